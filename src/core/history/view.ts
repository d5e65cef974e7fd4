/**
 * What an agent is given of a conversation, and whether a change to the conversation changes that.
 *
 * In scope `agent` the view begins after the latest answer of another agent; in scope `shared` it is everything. If the
 * agent's memory was cleared, the view begins after that turn: whoever asks for that does not want the past to come back
 * with the next fresh session. Taking the turn out of the conversation brings it back. Only what an agent's session was
 * really given can become stale.
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
  /** Changes whenever the content does. */
  revision: number
}

/** In order: by turn, the question before the answer. */
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

/** The latest answer with which the agent forgot what was said before; undefined: there is none. */
function clearingOf<M extends HistoryMessage>(agent: string, messages: readonly M[]): M | undefined {
  return messages.findLast(
    (message) => message.agent === agent && message.blocks.some(({ type }) => type === 'memory-cleared'),
  )
}

/** The latest turn in which the agent forgot what was said before; null: there is none. */
export const clearedTurnOf = (agent: string, messages: readonly HistoryMessage[]): number | null =>
  clearingOf(agent, messages)?.turn ?? null

/** The turns in which an agent's session took part, from the one it began with. */
export interface Seen {
  since: number
  upTo: number
}

/**
 * What the agent's session was told: its view when it began; in each further turn of its own what had come into its
 * view since; and these turns themselves. That may be more than its view is now: other answers may have come between.
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
  // Without it, the session would have to know what came before.
  return JSON.stringify([clearing?.id ?? null, ...given.map(({ id, revision }) => [id, revision])])
}

/** True if the session of the agent now knows something else than it would be told again. */
export function isHistoryChanged(
  agent: string,
  scope: HistoryScope,
  seen: Seen,
  before: readonly HistoryMessage[],
  after: readonly HistoryMessage[],
): boolean {
  return givenTo(agent, before, scope, seen) !== givenTo(agent, after, scope, seen)
}

/** What has come into the agent's view since its session last took part. What was said in that very session it knows. */
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
