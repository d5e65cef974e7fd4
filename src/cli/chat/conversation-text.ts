/** Conversations and their messages as text. */
import type {
  Conversation,
  ConversationDetail,
  ConversationMove,
  Message,
} from '../../contract/conversation.ts'
import type { CliContext } from '../base/context.ts'
import { loadLayout } from '../markdown/load.ts'
import { toolLine } from '../run/tool-line.ts'
import { count } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'

const nameOf = ({ role, agent }: Message) => (role === 'user' ? 'you' : agent)

const textOf = ({ blocks }: Message) =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')

/** The origin of messages that were not sent through Reprise. */
const ORIGINS = {
  reprise: [],
  outside: ['outside Reprise'],
  'outside-branch': ['outside Reprise, on another branch'],
} as const

/** One line per message, numbered from 1 as the chat commands count them. */
export function historyLines(messages: readonly Message[], width: number): string[] {
  const digits = String(messages.length).length
  const names = Math.max(0, ...messages.map((message) => nameOf(message).length))
  return messages.map((message, index) => {
    const tools = message.blocks.filter((block) => block.type === 'tool-use').length
    const marks = [
      ...ORIGINS[message.origin],
      ...(message.state === 'complete' ? [] : [message.state]),
      ...(message.editedAt ? ['edited'] : []),
      ...(tools > 0 ? [count(tools, 'tool call')] : []),
    ]
    const start = `${String(index + 1).padStart(digits)} ${nameOf(message).padEnd(names)}  `
    const end = marks.length > 0 ? ` (${marks.join(', ')})` : ''
    return `${start}${firstLine(textOf(message), Math.max(20, width - start.length - end.length))}${end}`
  })
}

const MESSAGE_INDENT = 2

/** The full text and the tool calls of messages, each as lines for stdout. */
export async function layOutMessages(
  messages: readonly Message[],
  context: Pick<CliContext, 'stdout' | 'env'>,
): Promise<string[][]> {
  const layOut = await loadLayout(context, MESSAGE_INDENT)
  const { safe } = styleFor(context.stdout, context.env)
  return messages.map((message) => {
    const marks = [...ORIGINS[message.origin], ...(message.state === 'complete' ? [] : [message.state])]
    const state = marks.length === 0 ? '' : ` (${marks.join(', ')})`
    const lines = message.blocks.flatMap((block) => {
      if (block.type === 'text')
        return message.role === 'user' ? safe(block.text).split('\n') : layOut(block.text)
      if (block.type === 'memory-cleared') return ['· forgot all that was said before']
      return block.type === 'tool-use' ? [safe(`· ${toolLine(block.name, block.input)}`)] : []
    })
    return [
      safe(`${nameOf(message)}${state}:`),
      ...lines.map((line) => `${' '.repeat(MESSAGE_INDENT)}${line}`),
    ]
  })
}

export function conversationLines(conversation: ConversationDetail): string[] {
  const { agents, instructions } = conversation
  const fields: [string, string][] = [
    ['conversation', conversation.id],
    ['title', titleOf(conversation)],
    ['directory', conversation.workDir],
    ['agent', conversation.agent],
    ['history', conversation.historyScope],
    ['instructions', instructions === null ? '–' : firstLine(instructions, 200)],
    ['turns', String(conversation.turnCount)],
    ...agents.map((agent): [string, string] => {
      const session = agent.session ? `session ${agent.session}${seenText(agent)}` : 'no session yet'
      return [`  ${agent.agent}`, `${session} (epoch ${agent.epoch})`]
    }),
  ]
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}

function seenText({ seenTurn, clearedTurn }: ConversationDetail['agents'][number]): string {
  if (clearedTurn === null) return seenTurn === null ? '' : `, has seen turn ${seenTurn}`
  const since = (seenTurn ?? 0) > clearedTurn ? `has seen turn ${seenTurn}` : 'has seen nothing since'
  return `, memory cleared in turn ${clearedTurn}, ${since}`
}

/** The consequences of a move, one line per session. */
export function moveLines({ from, to, sessions }: ConversationMove): string[] {
  return [
    `${from} → ${to}`,
    ...(sessions.length === 0 ? ['there are no sessions yet, so nothing is lost'] : []),
    ...sessions.map(({ agent, why }) => `${agent}: ${why}`),
  ]
}

export const titleOf = ({ title }: Conversation) => (title === '' ? '(untitled)' : firstLine(title, 200))

/** A warning if a conversation works in another directory than the current one. */
export function otherDirectory({ workDir }: Conversation, cwd: string): string[] {
  return workDir === cwd ? [] : [`Note: this conversation works in ${workDir}, not in the current directory.`]
}
