/**
 * The context of a turn. Both the session and the history come from the conversation: the session is the agent's pin,
 * the history is what has been said from this agent's point of view.
 */
import { conversationTexts } from '../../core/history/added-texts.ts'
import { toPastTurns } from '../../core/history/render.ts'
import { catchUpFor, clearedTurnOf, viewFor } from '../../core/history/view.ts'
import type { MessageRecord } from '../../store/conversations/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { RunContext } from '../base/purpose.ts'
import { currentAttempts, hashOf } from '../path/context.ts'
import { loadResults } from '../path/work-log.ts'
import type { Turn } from './turn.ts'

export type TurnStore = Pick<
  Store,
  | 'getRun'
  | 'getConversation'
  | 'listMessages'
  | 'getPin'
  | 'getSession'
  | 'listAttempts'
  | 'listEvents'
  | 'effects'
>

export async function readTurnContext(
  store: TurnStore,
  queued: RunRecord,
  { conversationId, turn }: Turn,
): Promise<RunContext> {
  const conversation = await store.getConversation(conversationId)
  const run = (await store.getRun(queued.id)) ?? queued
  const scope = conversation?.historyScope ?? 'shared'
  const instructions = conversation?.instructions || null
  const messages = await store.listMessages(conversationId, turn)
  const pin = await store.getPin(conversationId, run.agent)
  // If this turn had an earlier attempt, it continues in the session of that attempt, not in the pinned one.
  const lastAttempt = currentAttempts(run, await store.listAttempts(run.id)).at(-1)
  const sessionId = lastAttempt?.sessionId ?? pin?.sessionId ?? null
  const isPinned = sessionId !== null && sessionId === pin?.sessionId
  const session = sessionId === null ? null : await store.getSession(sessionId)
  const view = viewFor(run.agent, messages, scope)
  const catchUp = isPinned ? catchUpFor(run.agent, messages, scope, pin?.seenTurn ?? 0) : []
  return {
    run,
    startEffects: conversation ? [store.effects.ifUnchanged(conversation.revision)] : [],
    session,
    sessionEpoch: (lastAttempt ? lastAttempt.epoch : pin?.sessionEpoch) ?? 0,
    epoch: pin?.epoch ?? 0,
    turns: toPastTurns(view),
    catchUp: toPastTurns(catchUp),
    otherAgent: messages.some(({ agent }) => agent !== run.agent),
    continuesWork: false,
    sameTask: [run],
    standingHash: hashOf(instructions),
    task: null,
    readWhole: async (chars) => ({
      turns: toPastTurns(await loadResults(store, view, chars)),
      catchUp: toPastTurns(await loadResults(store, catchUp, chars)),
    }),
    readBrief: async () => ({
      texts: conversationTexts({
        instructions,
        hadInstructions: session?.told != null && session.told !== hashOf(null),
        unfinished: isUnfinished(run.agent, messages, pin?.seenTurn ?? 0),
        cleared: pin?.seenTurn != null && clearedTurnOf(run.agent, messages) === pin.seenTurn,
      }),
    }),
  }
}

/** Whether the last question that the agent received has no complete answer. */
function isUnfinished(agent: string, messages: readonly MessageRecord[], seenTurn: number): boolean {
  const asked = messages.findLast(
    ({ role, turn, ...message }) => role === 'user' && message.agent === agent && turn <= seenTurn,
  )
  if (!asked) return false
  const answer = messages.find((message) => message.role === 'assistant' && message.turn === asked.turn)
  return answer?.state !== 'complete'
}
