/**
 * Peculiarities of the requests of Claude Code (2.1.325) that a script should not have to handle: which texts in user
 * messages are its own and not the user's, and which requests it makes on the side.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Block, Message, MessagesBody } from './messages-body.ts'
import { blocksOf, textOf } from './messages-body.ts'
import type { RequestKind } from './scenario-types.ts'

const WRAPPED_NOTES =
  /<(system-reminder|local-command-caveat|local-command-stdout|local-command-stderr|command-name|command-message|command-args)>[\s\S]*?<\/\1>/g

const COMPACT_PROMPT =
  /^(CRITICAL: Respond with TEXT ONLY[\s\S]*)?Your task is to create a detailed summary of /
const COMPACT_SYSTEM = /You are a helpful AI assistant tasked with summarizing conversations/
/** Sent instead of a retry when a reply broke off after its first content. */
const CUT_NOTE = /^Your response above was cut off mid-stream\./

const NOTES = [
  COMPACT_PROMPT,
  CUT_NOTE,
  /^This session is being continued from a previous conversation that ran out of context\./,
  /^\[structured-output-enforce\]/,
  /^\[Request interrupted by user/,
]

/** The texts that the user typed, message by message, without the CLI's own notes. */
export function ownTexts(messages: readonly Message[]): string[] {
  return messages
    .filter((message) => message.role === 'user')
    .map((message) =>
      blocksOf(message.content)
        .filter((part) => part.type === 'text')
        .map((part) => textOf(part).replace(WRAPPED_NOTES, '').trim())
        .filter((text) => text !== '' && !NOTES.some((note) => note.test(text)))
        .join('\n'),
    )
    .filter((text) => text !== '')
}

export function isCutNote(part: Block): boolean {
  return CUT_NOTE.test(textOf(part).trim())
}

/**
 * The agent's own requests have tools or the `claude-code` beta; requests that name a session, evaluate a prompt hook
 * or summarise a web page have neither. Requests of other clients count as an agent's own.
 */
export function kindOf(
  body: MessagesBody,
  headers: IncomingHttpHeaders,
  systemText: string,
  newest: readonly Block[],
): RequestKind {
  if (newest.some((part) => COMPACT_PROMPT.test(textOf(part))) || COMPACT_SYSTEM.test(systemText))
    return 'compact'
  if (body.max_tokens !== undefined && body.max_tokens <= 1) return 'probe'
  const fromCli = headers['user-agent']?.startsWith('claude-cli/') === true
  const ofAgent = (body.tools ?? []).length > 0 || String(headers['anthropic-beta']).includes('claude-code-')
  if (!fromCli || ofAgent) return 'main'
  const schema = body.output_config?.format?.schema as { properties?: object } | undefined
  return Object.keys(schema?.properties ?? {}).join() === 'title' ? 'title' : 'side'
}

export function sessionIdOf(body: MessagesBody, headers: IncomingHttpHeaders): string | undefined {
  const header = headers['x-claude-code-session-id']
  if (typeof header === 'string') return header
  const userId = (body.metadata as { user_id?: unknown } | undefined)?.user_id
  if (typeof userId !== 'string') return undefined
  return /"session_id":"([^"]+)"/.exec(userId)?.[1] ?? /_session_([0-9a-f-]{36})/.exec(userId)?.[1]
}
