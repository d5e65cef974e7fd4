/**
 * Computes an agent's view of a conversation (the messages that it is given), and whether a change to the conversation
 * changes what a session was given.
 *
 * In scope `agent` the view begins after the latest answer of another agent; in scope `shared` it is everything. If the
 * agent's memory was cleared, the view begins after that turn, so that the next new session is not given the past
 * again. Removing that turn from the conversation brings the past back.
 */
import type { ContentBlock, HistoryScope, MessageOrigin } from '../../contract/conversation.ts'

export interface HistoryMessage {
  id: string
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: readonly ContentBlock[]
  state: 'complete' | 'cancelled' | 'failed'
  origin?: MessageOrigin
  /** Differs for different contents of the message. */
  revision: number
}

/** `messages` are ordered by turn, the question before the answer. */
export function viewFor<M extends HistoryMessage>(
  agent: string,
  messages: readonly M[],
  scope: HistoryScope,
): M[] {
  const cleared = clearingOf(agent, messages)?.turn ?? 0
  const known = messages.filter(({ turn }) => turn > cleared)
  if (scope === 'shared') return known
  const boundary = known.findLastIndex((message) => message.role === 'assistant' && message.agent !== agent)
  return known.slice(boundary + 1)
}

/** The latest answer that cleared the agent's memory; undefined: there is none. */
function clearingOf<M extends HistoryMessage>(agent: string, messages: readonly M[]): M | undefined {
  return messages.findLast(
    (message) => message.agent === agent && message.blocks.some(({ type }) => type === 'memory-cleared'),
  )
}

/** The latest turn in which the agent's memory was cleared; null: there is none. */
export const clearedTurnOf = (agent: string, messages: readonly HistoryMessage[]): number | null =>
  clearingOf(agent, messages)?.turn ?? null

/** The range of turns that an agent's session has seen. `since` is its first turn. */
export interface Seen {
  since: number
  upTo: number
}

/**
 * A key of everything that the agent's session was given: the view at its first turn, in each further turn the messages
 * that were new in the view, and the turns themselves. That can be more than the present view, which is shorter after
 * an answer of another agent.
 */
function givenTo(
  agent: string,
  messages: readonly HistoryMessage[],
  scope: HistoryScope,
  seen: Seen,
): string {
  const given: HistoryMessage[] = []
  const clearing = clearingOf(agent, messages)
  const cleared = clearing?.turn ?? 0
  let told = 0
  for (const { turn, role, agent: asked } of messages) {
    if (role !== 'user' || asked !== agent || turn < seen.since || turn > seen.upTo) continue
    if (turn <= cleared) continue
    const before = messages.filter((message) => message.turn < turn && message.turn > cleared)
    given.push(...newTo(agent, before, scope, told), ...messages.filter((message) => message.turn === turn))
    told = turn
  }
  // If the clearing turn is removed, the session lacks the history before it, so it is part of the key.
  return JSON.stringify([clearing?.id ?? null, ...given.map(({ id, revision }) => [id, revision])])
}

/** Whether what the agent's session was given differs from the history after the change. */
export function isHistoryChanged(
  agent: string,
  scope: HistoryScope,
  seen: Seen,
  before: readonly HistoryMessage[],
  after: readonly HistoryMessage[],
): boolean {
  return givenTo(agent, before, scope, seen) !== givenTo(agent, after, scope, seen)
}

/** The messages that are new in the agent's view since `seenTurn`, without those that were said in its own session. */
export function catchUpFor<M extends HistoryMessage>(
  agent: string,
  messages: readonly M[],
  scope: HistoryScope,
  seenTurn: number,
): M[] {
  return newTo(agent, messages, scope, seenTurn).filter(
    (message) => message.origin !== 'outside' || message.agent !== agent,
  )
}

function newTo<M extends HistoryMessage>(
  agent: string,
  messages: readonly M[],
  scope: HistoryScope,
  seenTurn: number,
): M[] {
  return viewFor(agent, messages, scope).filter((message) => message.turn > seenTurn)
}
