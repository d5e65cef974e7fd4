/** Conversations and their messages as lines of text. */
import type {
  Conversation,
  ConversationDetail,
  ConversationMove,
  Message,
} from '../../contract/conversation.ts'
import { toolLine } from '../run/tool-line.ts'
import { count } from '../terminal/amounts.ts'
import { firstLine } from '../terminal/terminal.ts'

const nameOf = ({ role, agent }: Message) => (role === 'user' ? 'you' : agent)

const textOf = ({ blocks }: Message) =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')

/** Where a message was said, if not through Reprise. */
const ORIGINS = {
  reprise: [],
  outside: ['outside Reprise'],
  'outside-branch': ['outside Reprise, on another branch'],
} as const

/** Each message on a line, numbered from 1 as the commands count them. */
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

/** All that was said and done. */
export function messageLines(message: Message): string[] {
  const marks = [...ORIGINS[message.origin], ...(message.state === 'complete' ? [] : [message.state])]
  const state = marks.length === 0 ? '' : ` (${marks.join(', ')})`
  const lines = message.blocks.flatMap((block) => {
    if (block.type === 'text') return block.text.split('\n')
    if (block.type === 'memory-cleared') return ['· forgot all that was said before']
    return block.type === 'tool-use' ? [`· ${toolLine(block.name, block.input)}`] : []
  })
  return [`${nameOf(message)}${state}:`, ...lines.map((line) => `  ${line}`)]
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
    ...agents.map((agent): [string, string] => [
      `  ${agent.agent}`,
      `epoch ${agent.epoch}, ${agent.session ? `${agent.session}${seenText(agent)}` : 'no session yet'}`,
    ]),
  ]
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}

function seenText({ seenTurn, clearedTurn }: ConversationDetail['agents'][number]): string {
  if (clearedTurn === null) return seenTurn === null ? '' : `, has seen turn ${seenTurn}`
  const since = (seenTurn ?? 0) > clearedTurn ? `has seen turn ${seenTurn}` : 'has seen nothing since'
  return `, memory cleared in turn ${clearedTurn}, ${since}`
}

/** What a move means, a line for each session. */
export function moveLines({ from, to, sessions }: ConversationMove): string[] {
  return [
    `${from} → ${to}`,
    ...(sessions.length === 0 ? ['no session yet: nothing is lost'] : []),
    ...sessions.map(({ agent, why }) => `${agent}: ${why}`),
  ]
}

export const titleOf = ({ title }: Conversation) => (title === '' ? '(untitled)' : firstLine(title, 200))
