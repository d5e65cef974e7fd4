/**
 * What an agent is given of a conversation, and whether a change to the conversation changes that.
 *
 * In scope `agent` the view begins after the latest answer of another agent; in scope `shared` it is everything. An
 * agent's session knows the view up to the last turn it took part in; only what it was really given can become stale.
 */
import type { ContentBlock, HistoryScope } from '../../contract/conversation.ts'

export interface HistoryMessage {
  id: string
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: readonly ContentBlock[]
  state: 'complete' | 'cancelled' | 'failed'
  /** Changes whenever the content does. */
  revision: number
}

/** In order: by turn, the question before the answer. */
export function viewFor<M extends HistoryMessage>(
  agent: string,
  messages: readonly M[],
  scope: HistoryScope,
): M[] {
  if (scope === 'shared') return [...messages]
  const boundary = messages.findLastIndex(
    (message) => message.role === 'assistant' && message.agent !== agent,
  )
  return messages.slice(boundary + 1)
}

/** What the agent was given when its session last took part, in turn `seenTurn`. */
function givenTo(
  agent: string,
  messages: readonly HistoryMessage[],
  scope: HistoryScope,
  seenTurn: number,
): string {
  const given = viewFor(
    agent,
    messages.filter((message) => message.turn <= seenTurn),
    scope,
  )
  return JSON.stringify(given.map(({ id, revision }) => [id, revision]))
}

/** True if the session of the agent, which has seen the conversation up to `seenTurn`, now knows something else. */
export function isHistoryChanged(
  agent: string,
  scope: HistoryScope,
  seenTurn: number,
  before: readonly HistoryMessage[],
  after: readonly HistoryMessage[],
): boolean {
  return givenTo(agent, before, scope, seenTurn) !== givenTo(agent, after, scope, seenTurn)
}

/** What others said since the agent's session last took part. Only in a shared history is it told. */
export function catchUpFor<M extends HistoryMessage>(
  messages: readonly M[],
  scope: HistoryScope,
  seenTurn: number,
): M[] {
  return scope === 'shared' ? messages.filter((message) => message.turn > seenTurn) : []
}
