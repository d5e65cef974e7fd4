/** `reprise chat`: a conversation with an agent, on a terminal or one message at a time. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Conversation, HistoryScope } from '../../contract/conversation.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import { between } from '../base/arguments.ts'
import type { CliContext } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { readInstructions } from '../base/instructions-file.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { usageError } from '../base/usage-error.ts'
import { chatOnTerminal } from '../chat/loop.ts'
import { chatOnce } from '../chat/once.ts'
import { type AskDaemon, connectLastingly } from '../daemon/connect.ts'
import { addSandboxOptions, permissionsOption } from '../run/options.ts'
import { offerTrust } from '../trust/consent.ts'

const EXAMPLES = `
On a terminal the chat is interactive: /help lists its commands, Ctrl-C cancels the current turn, Ctrl-D leaves. What you
enter during a turn is passed on to the agent at work. The agent continues its own session from turn to turn. When that is
not safe, it starts a new session with the history.

Examples:
  reprise chat                                 a new conversation about this directory
  reprise chat last                            continue the newest one
  reprise chat cnv_… --agent other             let another agent answer
  reprise chat -m "Why does the build fail?"   one message, the answer on stdout
  reprise chat cnv_… -m "And now?" --json      events, then the conversation, then the run
  git diff | reprise chat last                 one message from stdin`

interface ChatOptions {
  agent?: string
  cwd?: string
  model?: string
  permissions?: PermissionMode
  sandbox?: boolean
  maxTurns?: number
  freshSession?: boolean
  instructions?: string
  scope?: HistoryScope
  message?: string
}

const SCOPES: readonly HistoryScope[] = ['shared', 'agent']

export function define(command: Command, context: CliContext): void {
  addSandboxOptions(command)
    .description('Chats with an agent. The conversation is stored and can be continued later, by any agent.')
    .argument(
      '[id]',
      'conversation to continue; `last` is the newest',
      idArgument('cnv', { otherwise: '. Give a message with -m' }),
    )
    .option('--agent <name>', 'agent that answers (default: the first one configured)')
    .option('--model <name>', 'model to use')
    .option('--cwd <dir>', 'work directory of a new conversation (default: the current one)')
    .addOption(permissionsOption())
    .option('--max-turns <n>', 'limit of turns that the agent may take for one answer', between(1, 10_000))
    .option('--fresh-session', 'start the next turn in a new session, with the history')
    .option('--instructions <file>', 'file with instructions for all agents in this conversation')
    .addOption(
      new Option(
        '--scope <scope>',
        "history that an agent gets in a new conversation: all of it (shared), or what came after another agent's last answer (agent)",
      ).choices(SCOPES),
    )
    .option('-m, --message <text>', 'send one message, print the answer and exit')
    .addHelpText('after', EXAMPLES)
    .action((id: string | undefined, options: ChatOptions) => startChat(id, options, context))
}

async function startChat(id: string | undefined, options: ChatOptions, context: CliContext): Promise<void> {
  if (id !== undefined && (options.cwd !== undefined || options.scope !== undefined)) {
    throw usageError(
      '--cwd and --scope cannot be changed for an existing conversation',
      'Leave them out, or start a new conversation without an id.',
    )
  }
  const instructions =
    options.instructions === undefined ? undefined : await readInstructions(options.instructions, context)
  const message = await readMessage(options, context)
  const ask = await connectLastingly(context)
  const chat = {
    ask,
    conversation:
      id === undefined
        ? await create(ask, options, instructions, context)
        : await find(ask, id, instructions),
    isNew: id === undefined,
    isUsed: false,
    agent: options.agent,
    model: options.model,
    permissions: options.permissions,
    sandbox: options.sandbox,
    maxTurns: options.maxTurns,
    freshNext: options.freshSession === true,
  }
  await offerTrust(ask, chat.conversation.workDir, context)
  return message === null ? chatOnTerminal(chat, context) : chatOnce(chat, message, context)
}

/** Null for an interactive chat. */
async function readMessage({ message }: ChatOptions, context: CliContext): Promise<string | null> {
  if (message !== undefined) {
    if (message.trim() === '') throw usageError('the message is empty')
    return message
  }
  if (!context.stdin.isTTY) return readPrompt(['-'], context)
  if (context.json) throw usageError('--json needs a message', 'Add: -m "…"')
  if (!context.stderr.isTTY) throw usageError('a chat needs a terminal', 'Send one message with: -m "…"')
  return null
}

function create(
  ask: AskDaemon,
  { agent, cwd, scope }: ChatOptions,
  instructions: string | undefined,
  context: CliContext,
): Promise<Conversation> {
  const request = {
    workDir: resolve(context.cwd, cwd ?? '.'),
    ...(agent === undefined ? {} : { agent }),
    ...(scope === undefined ? {} : { historyScope: scope }),
    ...(instructions === undefined ? {} : { instructions }),
  }
  return ask((client) => client.createConversation(request))
}

async function find(ask: AskDaemon, id: string, instructions: string | undefined): Promise<Conversation> {
  const found = await ask((client) => client.getConversation(id)).catch(explain)
  if (instructions === undefined) return found
  return ask((client) => client.updateConversation(found.id, { instructions }))
}

function explain(error: unknown): never {
  if (!(error instanceof RepriseError) || error.code !== 'not-found') throw error
  throw new RepriseError('not-found', error.message, { hint: 'List them with: reprise conversations' })
}
