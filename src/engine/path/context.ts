/**
 * What a run goes on from: the session that would be resumed, and the past a fresh one would have to be given. For a
 * turn of a conversation both come from the conversation; for any other run, from the session it names.
 */
import { createHash } from 'node:crypto'
import type { ConversationId } from '../../contract/ids.ts'
import { toPastTurns } from '../../core/history/render.ts'
import { catchUpFor, viewFor } from '../../core/history/view.ts'
import type { ChatContext, Standing } from '../../core/prompt/compose.ts'
import type { PastTurn } from '../../core/prompt/past.ts'
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import type { AttemptRecord, MessageRecord, RunRecord, SessionRecord } from '../../store/base/records.ts'
import type { Store } from '../../store/store.ts'
import { readPastTurns } from './history.ts'
import { loadResults } from './work-log.ts'

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
  /** Of a conversation: the messages that `turns` and the catch-up were made of. */
  messages: { view: MessageRecord[]; catchUp: MessageRecord[] } | null
  /** Another agent has taken part in the conversation. */
  otherAgent: boolean
  chat: ChatContext | null
  /** Of the texts that a session is told once: a conversation's instructions, or a chain's environment. */
  standingHash: string
  /** The task that a follow-up belongs to, where its session was given it. */
  task: string | null
}

export async function readContext(store: Store, run: RunRecord): Promise<RunContext> {
  const { conversationId, turn } = run.links
  if (conversationId !== null && turn !== null) return readTurnContext(store, run, conversationId, turn)
  const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
  const epoch = session?.epoch ?? 0
  const turns = await readPastTurns(store, run.sessionId, run)
  const now = await atFollowUp(store, run)
  return {
    run: now,
    revision: null,
    session,
    sessionEpoch: epoch,
    epoch,
    turns,
    messages: null,
    otherAgent: false,
    chat: null,
    standingHash: hashOf(run.request.chain?.environment ?? null),
    task: await readTask(store, now),
  }
}

/** What the run was asked that planned the follow-up. */
async function readTask(store: Store, { id, links }: RunRecord): Promise<string | null> {
  const followUp = links.followUpId === null ? null : await store.getFollowUp(links.followUpId)
  const planner = followUp?.runId ? await store.getRun(followUp.runId) : null
  return planner === null || planner.id === id ? null : planner.prompt
}

/** No text that fits into so many tokens is longer. */
const CHARS_PER_TOKEN = 4

/** The past as it is to be sent, with all that agents did and tools printed, as far as there may be room for it. */
export async function readWholePast(
  store: Store,
  { run, session, messages, chat }: RunContext,
  room: number,
): Promise<{ turns: PastTurn[]; chat: ChatContext | null }> {
  const chars = room * CHARS_PER_TOKEN
  if (messages === null || chat === null)
    return { turns: await readPastTurns(store, session?.id ?? null, run, chars), chat }
  return {
    turns: toPastTurns(await loadResults(store, messages.view, chars)),
    chat: { ...chat, catchUp: toPastTurns(await loadResults(store, messages.catchUp, chars)) },
  }
}

/** Whether a session has the texts that are said once. */
export function standingOf(
  { told, compacted }: Pick<SessionRecord, 'told' | 'compacted'>,
  hash: string,
): Standing {
  if (compacted) return 'compacted'
  return told === hash ? 'known' : 'changed'
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
  const messages = await store.listMessages(conversationId, turn)
  const pin = await store.getPin(conversationId, run.agent)
  // An earlier attempt at this very turn goes on in its own session, not in the one pinned before.
  const lastAttempt = currentAttempts(run, await store.listAttempts(run.id)).at(-1)
  const sessionId = lastAttempt?.sessionId ?? pin?.sessionId ?? null
  const isPinned = sessionId !== null && sessionId === pin?.sessionId
  const session = sessionId === null ? null : await store.getSession(sessionId)
  const view = viewFor(run.agent, messages, scope)
  const catchUp = isPinned ? catchUpFor(run.agent, messages, scope, pin?.seenTurn ?? 0) : []
  return {
    run,
    revision: conversation?.revision ?? null,
    session,
    sessionEpoch: (lastAttempt ? lastAttempt.epoch : pin?.sessionEpoch) ?? 0,
    epoch: pin?.epoch ?? 0,
    turns: toPastTurns(view),
    messages: { view, catchUp },
    otherAgent: messages.some(({ agent }) => agent !== run.agent),
    chat: {
      instructions,
      hadInstructions: session?.told != null && session.told !== hashOf(null),
      catchUp: toPastTurns(catchUp),
      unfinished: isUnfinished(run.agent, messages, pin?.seenTurn ?? 0),
    },
    standingHash: hashOf(instructions),
    task: null,
  }
}

/** The attempts at the question as it is now: what was asked before it was edited does not count. */
export const currentAttempts = (
  run: Pick<RunRecord, 'outdatedAttempts'>,
  attempts: readonly AttemptRecord[],
) => attempts.filter(({ number }) => number > run.outdatedAttempts)

/** Whether the last question that the agent was given has no whole answer. */
function isUnfinished(agent: string, messages: readonly MessageRecord[], seenTurn: number): boolean {
  const asked = messages.findLast(
    ({ role, turn, ...message }) => role === 'user' && message.agent === agent && turn <= seenTurn,
  )
  if (!asked) return false
  const answer = messages.find((message) => message.role === 'assistant' && message.turn === asked.turn)
  return answer?.state !== 'complete'
}

const hashOf = (text: string | null) =>
  text === null ? 'none' : createHash('sha256').update(text).digest('hex').slice(0, 16)
