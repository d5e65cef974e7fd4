/** `reprise token`: who may call the daemon. */
import { type Command, Option } from 'commander'
import type { CreatedToken, Scope, Token } from '../../contract/access.ts'
import { RepriseError } from '../../contract/errors.ts'
import { duration } from '../base/arguments.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { wholeIdArgument } from '../base/id-argument.ts'
import { refuseWords } from '../base/subcommand.ts'
import { connect } from '../daemon/connect.ts'
import { formatAge } from '../terminal/amounts.ts'
import { formatTable } from '../terminal/table.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'

const EXAMPLES = `
The command line uses the token in the file \`token\` of the home. Browsers that were signed in with \`reprise open\` have
tokens of their own, and so can scripts and people.

Examples:
  reprise token                                     list tokens and sign-ins
  reprise token create grafana --scope read
  reprise token revoke tok_…
  reprise token rotate                              replace the token of the command line and end all others
  reprise token rotate tok_…                        replace another one`

const SCOPES: readonly Scope[] = ['read', 'answer', 'act', 'admin']

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a token, like tok_01J…', wholeIdArgument('tok')] as const
  command.description('Lists, creates, revokes and replaces tokens.').addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('list tokens and sign-ins')
    .allowExcessArguments(true)
    .action((_, self: Command) => {
      refuseWords(self)
      return list(context)
    })
  command
    .command('create')
    .summary('create a token; it is shown once')
    .argument('<name>', 'what it is for')
    .addOption(new Option('--scope <scope>', 'what it allows').choices(SCOPES).default('read'))
    .option('--expires <duration>', 'how long it is valid, such as 30d', duration)
    .action((name: string, { scope, expires }: { scope: Scope; expires?: number }) =>
      create(name, scope, expires, context),
    )
  command
    .command('revoke')
    .summary('revoke a token or a sign-in')
    .argument(...id)
    .action((tokenId: string) => revoke(tokenId, context))
  command
    .command('rotate')
    .summary('replace the secret of a token')
    .argument(
      '[id]',
      'id of a token; default: the one of the command line, which also ends all other tokens and sign-ins',
      wholeIdArgument('tok'),
    )
    .action((tokenId: string | undefined) => rotate(tokenId, context))
}

async function list(context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const tokens = await client.listTokens()
  if (context.json) return printJson(context, tokens)
  const now = new Date()
  const { safe } = styleFor(context.stdout, context.env)
  const rows = tokens.map((token) => [
    token.id,
    token.kind,
    token.name,
    token.scope,
    `${formatAge(token.createdAt, now)} ago`,
    usedText(token, now),
  ])
  const headings = ['id', 'kind', 'name', 'scope', 'created', 'last used']
  for (const line of formatTable(headings, rows, widthOf(context.stdout)))
    await printLine(context, safe(line))
}

function usedText({ lastUsedAt, lastUsedFrom }: Token, now: Date): string {
  if (lastUsedAt === null) return 'never'
  return `${formatAge(lastUsedAt, now)} ago${lastUsedFrom === null ? '' : ` from ${lastUsedFrom}`}`
}

async function create(
  name: string,
  scope: Scope,
  expiresInMs: number | undefined,
  context: CliContext,
): Promise<void> {
  const { client } = await connect(context)
  const created = await client.createToken({
    name,
    scope,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  })
  await show(created, context)
}

async function revoke(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  await client.revokeToken(id)
  if (context.json) return printJson(context, { id, revoked: true })
  await printLine(context, `${id} is not accepted any more.`)
}

async function rotate(asked: string | undefined, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const own = (await client.listTokens()).find(({ kind }) => kind === 'command-line')
  const id = asked ?? own?.id
  if (id === undefined) throw new RepriseError('not-found', 'the command line has no token')
  await show(await client.rotateToken(id), context)
}

async function show(token: CreatedToken, context: CliContext): Promise<void> {
  if (context.json) return printJson(context, token)
  if (token.secret === null)
    return printLine(
      context,
      'The file `token` in the home has a new token. All other tokens and sign-ins have ended.',
    )
  await printLine(context, token.secret)
  notify(context, `${token.id} allows ${token.scope}. It is not shown again.`)
}
