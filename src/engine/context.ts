/**
 * What a run goes on from: the session that would be resumed, and the past a fresh one would have to be given. For a
 * turn of a conversation both come from the conversation; for any other run, from the session it names.
 */
import { createHash } from 'node:crypto'
import type { ConversationId } from '../contract/ids.ts'
import { toPastTurns } from '../core/history/render.ts'
import { catchUpFor, viewFor } from '../core/history/view.ts'
import type { ChatContext, PastTurn } from '../core/prompt/compose.ts'
import { composeFollowUpPrompt } from '../core/watch/prompt.ts'
import type { MessageRecord, RunRecord, SessionRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { readPastTurns } from './history.ts'

export interface RunContext {
  /** As it is now: a turn may have been edited since it was queued. */
  run: RunRecord
  /** Of the conversation. Read before anything else of it, so that what is read later is at least as new. */
  revision: number | null
  session: SessionRecord | null
  /** Of the history that session was given, and of the one there is now. */
  sessionEpoch: number
  epoch: number
  turns: PastTurn[]
  chat: ChatContext | null
  instructionsHash: string | null
}

export async function readContext(store: Store, run: RunRecord): Promise<RunContext> {
  const { conversationId, turn } = run.links
  if (conversationId !== null && turn !== null) return readTurnContext(store, run, conversationId, turn)
  const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
  const epoch = session?.epoch ?? 0
  const turns = await readPastTurns(store, run.sessionId, run)
  return {
    run: await atFollowUp(store, run),
    revision: null,
    session,
    sessionEpoch: epoch,
    epoch,
    turns,
    chat: null,
    instructionsHash: null,
  }
}

/** A run that was kept waiting for a follow-up and got it is at that prompt now, not at its own. */
async function atFollowUp(store: Store, run: RunRecord): Promise<RunRecord> {
  const live = run.attemptCount === 0 ? null : await store.findLiveFollowUp(run.id)
  if (!live?.firedMessageId || !live.firedAt) return run
  return {
    ...run,
    prompt: composeFollowUpPrompt({ ...live, now: live.firedAt }),
    promptId: live.firedMessageId,
    links: { ...run.links, followUpId: live.id },
  }
}

async function readTurnContext(
  store: Store,
  queued: RunRecord,
  conversationId: ConversationId,
  turn: number,
): Promise<RunContext> {
  const conversation = await store.getConversation(conversationId)
  const run = (await store.getRun(queued.id)) ?? queued
  const scope = conversation?.historyScope ?? 'shared'
  const instructions = conversation?.instructions || null
  const instructionsHash = instructions === null ? null : hashOf(instructions)
  const messages = await store.listMessages(conversationId, turn)
  const pin = await store.getPin(conversationId, run.agent)
  // An earlier attempt at this very turn goes on in its own session, not in the one pinned before.
  const lastAttempt = (await store.listAttempts(run.id)).at(-1)
  const sessionId = lastAttempt?.sessionId ?? pin?.sessionId ?? null
  const isPinned = sessionId !== null && sessionId === pin?.sessionId
  return {
    run,
    revision: conversation?.revision ?? null,
    session: sessionId === null ? null : await store.getSession(sessionId),
    sessionEpoch: (lastAttempt ? lastAttempt.epoch : pin?.sessionEpoch) ?? 0,
    epoch: pin?.epoch ?? 0,
    turns: toPastTurns(viewFor(run.agent, messages, scope)),
    chat: {
      instructions,
      instructionsKnown:
        (lastAttempt && !isPinned ? lastAttempt.instructionsHash : pin?.instructionsHash) ===
        instructionsHash,
      catchUp: isPinned ? toPastTurns(catchUpFor(run.agent, messages, scope, pin?.seenTurn ?? 0)) : [],
      unfinished: isUnfinished(run.agent, messages, pin?.seenTurn ?? 0),
    },
    instructionsHash,
  }
}

/** Whether the last question that the agent was given has no whole answer. */
function isUnfinished(agent: string, messages: readonly MessageRecord[], seenTurn: number): boolean {
  const asked = messages.findLast(
    ({ role, turn, ...message }) => role === 'user' && message.agent === agent && turn <= seenTurn,
  )
  if (!asked) return false
  const answer = messages.find((message) => message.role === 'assistant' && message.turn === asked.turn)
  return answer?.state !== 'complete'
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
