/** `reprise trust`: decides whether the settings of a directory may apply. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { DirectoryTrust } from '../../contract/trust.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { type AskDaemon, connectLastingly } from '../daemon/connect.ts'
import { formatAge } from '../terminal/amounts.ts'
import { formatTable } from '../terminal/table.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { canAsk, decide, describeTrust } from '../trust/consent.ts'

const EXAMPLES = `
Hooks, MCP servers, permission rules, commands, agents and skills in a directory (.claude, .mcp.json), and its
reprise.yaml, apply only after you have trusted them. CLAUDE.md is text and always applies. What you trust is the content:
when it changes, you are asked again. Runs in a directory that is not trusted go without it, and say so.

Examples:
  reprise trust                     show what the current directory would allow, and decide
  reprise trust ~/work/site         another directory
  reprise trust --yes --json        trust it without being asked
  reprise trust list                decisions so far
  reprise trust revoke ~/work/site  forget a decision`

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows what the files of a directory would allow or start, and decides whether they may.')
    .addHelpText('after', EXAMPLES)
  command
    .command('show', { isDefault: true })
    .summary('show a directory, and decide')
    .argument('[dir]', 'directory (default: the current one)', '.')
    .option('--yes', 'trust it without being asked')
    .action((dir: string, options: { yes?: boolean }) => show(dir, options, context))
  command
    .command('list')
    .summary('list the directories that you have decided about')
    .action(() => list(context))
  command
    .command('revoke')
    .summary('forget the decision about a directory')
    .argument('[dir]', 'directory (default: the current one)', '.')
    .action((dir: string) => revoke(dir, context))
}

async function show(dir: string, { yes }: { yes?: boolean }, context: CliContext): Promise<void> {
  const ask = await connectLastingly(context)
  const found = await ask((client) => client.inspectTrust(resolve(context.cwd, dir)))
  const isOpen = found.grants.length > 0 && found.state !== 'trusted' && found.state !== 'unusable'
  if (yes && isOpen) return report(await trust(ask, found), context)
  if (isOpen && canAsk(context)) return report(await decide(ask, found, context), context, { isShown: true })
  return report(found, context)
}

const trust = (ask: AskDaemon, { dir, digest }: DirectoryTrust) =>
  ask((client) => client.decideTrust({ dir, digest, decision: 'trust' }))

async function report(
  found: DirectoryTrust,
  context: CliContext,
  { isShown = false }: { isShown?: boolean } = {},
): Promise<void> {
  const applies = found.state === 'trusted' || found.state === 'nothing'
  context.exitCode = applies ? EXIT.done : EXIT.failed
  if (context.json) return printJson(context, found)
  const [heading = '', ...details] = describeTrust(found)
  for (const line of isShown ? [heading] : [heading, ...details]) await printLine(context, line)
  if (!applies && !canAsk(context)) notify(context, 'To trust it without being asked: reprise trust --yes')
}

async function list(context: CliContext): Promise<void> {
  const ask = await connectLastingly(context)
  const decisions = await ask((client) => client.listTrust())
  if (context.json) return printJson(context, decisions)
  const now = new Date()
  const { safe } = styleFor(context.stdout, context.env)
  const rows = decisions.map(({ dir, decision, files, decidedAt }) => [
    dir,
    decision === 'trust' ? 'trusted' : 'declined',
    String(files.length),
    `${formatAge(decidedAt, now)} ago`,
  ])
  const lines = formatTable(['directory', 'decision', 'files', 'decided'], rows, widthOf(context.stdout))
  for (const line of lines) await printLine(context, safe(line))
}

async function revoke(dir: string, context: CliContext): Promise<void> {
  const path = resolve(context.cwd, dir)
  const ask = await connectLastingly(context)
  await ask((client) => client.revokeTrust(path))
  if (context.json) return printJson(context, { dir: path, revoked: true })
  await printLine(context, `The decision about ${path} is forgotten.`)
}
