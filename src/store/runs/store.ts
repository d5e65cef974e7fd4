/** The store interface of runs, their events and questions, and the sessions they use. */
import type { Kysely } from 'kysely'
import type { EventType } from '../../contract/events.ts'
import type { Page } from '../../contract/http.ts'
import type { AttemptId, JobId, RunId, SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { ToolResult } from '../../contract/question.ts'
import type { SessionLifecycle } from '../../contract/session.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { LifecycleTrigger } from '../../core/session/lifecycle.ts'
import type { Tables } from '../base/schema.ts'
import type { RunEffect, Write } from '../base/transaction.ts'
import { admitRun } from './admit-run.ts'
import { isCallAllowed } from './allowed-calls.ts'
import { answerQuestion } from './answer-question.ts'
import type { PendingRecord, QuestionRecord } from './attempt-records.ts'
import * as events from './events.ts'
import * as messages from './messages.ts'
import * as questions from './questions.ts'
import type { NewRun, RunMessageRecord, RunRecord, RunRequest, SpendOfRun, StoredEvent } from './records.ts'
import * as runs from './runs.ts'
import { findSandboxWish, type WishedRun } from './sandbox-wish.ts'
import type { SessionRecord } from './session-records.ts'
import * as sessionState from './session-state.ts'
import * as sessions from './sessions.ts'
import { listSpendOf } from './spend.ts'
import * as startable from './startable.ts'

export interface RunStore {
  admitRun: (run: NewRun) => Promise<{ run: RunRecord; created: boolean }>
  getRun: (id: RunId) => Promise<RunRecord | null>
  listRuns: (query: runs.RunQuery) => Promise<Page<RunRecord>>
  /** Runs that are in quarantine because the daemon crashed while handling them, newest first. */
  listQuarantined: (since: Date, limit: number) => Promise<RunRecord[]>
  listStartable: (now: Date, limit: number, busy?: startable.Busy) => Promise<RunRecord[]>
  nextDueAt: (now: Date) => Promise<Date | null>
  /** The run that a queued one has to wait for; null if it is not another run. */
  findAhead: (id: RunId) => Promise<startable.Ahead | null>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>
  /** How many runs each agent works on; agents without one are left out. */
  countRunning: () => Promise<Map<string, number>>
  settleQueued: (id: RunId, outcome: Outcome, at: Date, effects?: readonly RunEffect[]) => Promise<boolean>
  markCancelRequested: (id: RunId, at: Date) => Promise<boolean>
  /** Stores the request of a queued run as the settings of its work directory limit it. */
  limitRun: (id: RunId, request: RunRequest) => Promise<void>
  postponeRun: (id: RunId, until: Date, why: string) => Promise<void>
  /** Makes a run due now that waits for a time. Returns false if it does not wait. */
  hastenRun: (id: RunId, at: Date) => Promise<boolean>
  /** Whether earlier runs of the conversation or session were asked to be in a sandbox. null: nothing was said. */
  findSandboxWish: (run: WishedRun) => Promise<boolean | null>
  /** The runs of a job, or one run, and all that descend from them by follow-ups. */
  listSpendOf: (id: JobId | RunId) => Promise<SpendOfRun[]>

  listEvents: (runId: RunId, query?: events.EventQuery) => Promise<StoredEvent[]>
  countEvents: (runId: RunId, type: EventType) => Promise<number>
  findNewestEvent: (runId: RunId, types: readonly EventType[]) => Promise<StoredEvent | null>

  /** Redacted for display. */
  listPending: (runId: RunId) => Promise<PendingRecord[]>
  /** All questions of the attempt, in order, unredacted. */
  listQuestions: (attemptId: AttemptId) => Promise<QuestionRecord[]>
  answerQuestion: (
    runId: RunId,
    answer: ToolResult,
    by: 'person' | 'policy',
    at: Date,
  ) => Promise<QuestionRecord>

  /** Stores a message for the agent, once per key. */
  sayToRun: (message: messages.NewRunMessage, at: Date) => Promise<RunMessageRecord>
  /** Oldest first. The text of open ones is not redacted. */
  listRunMessages: (runId: RunId) => Promise<RunMessageRecord[]>
  /** The open messages that this session has not read, oldest first, unredacted. */
  listUnread: (runId: RunId, sessionId: SessionId) => Promise<RunMessageRecord[]>
  markRead: (
    attempt: { id: AttemptId; runId: RunId; sessionId: SessionId },
    ids: ReadonlySet<string>,
    at: Date,
  ) => Promise<void>
  /** Settled runs that still have open messages. */
  listRunsWithOpenMessages: () => Promise<RunId[]>
  settleMessage: (message: RunMessageRecord, unread: { nextRunId: RunId | null }, at: Date) => Promise<void>

  /** Whether a person has allowed this call for the rest of the session; see core/permission/same-call.ts. */
  isCallAllowed: (id: SessionId, call: string) => Promise<boolean>

  getSession: (id: SessionId) => Promise<SessionRecord | null>
  findSession: (agentSessionId: string) => Promise<SessionRecord | null>
  listSessions: (query: sessions.SessionQuery) => Promise<Page<SessionRecord>>
  /** The beginning of the first prompt of each of these sessions. */
  readTitles: (ids: readonly SessionId[]) => Promise<Map<SessionId, string>>
  /** Sessions that were started with the history of this one, newest first. */
  listContinuing: (id: SessionId) => Promise<SessionId[]>
  /** Sessions that are not archived and that no process has open, least recently used first. */
  listIdleSessions: (query: sessionState.IdleQuery) => Promise<SessionRecord[]>
  /** Applies the lifecycle of sessions; returns the state after it. */
  moveSession: (id: SessionId, trigger: LifecycleTrigger, at: Date) => Promise<SessionLifecycle | null>
  /** Returns false if the session has been used or has changed since. */
  noteArchived: (session: Pick<SessionRecord, 'id' | 'state' | 'lastUsedAt'>, at: Date) => Promise<boolean>
  findLeaseHolder: (id: SessionId) => Promise<RunId | null>
  /** The prompt of the newest attempt that completed in the session under this agent session id. */
  findAnsweredPrompt: (session: Pick<SessionRecord, 'id' | 'agentSessionId'>) => Promise<string | null>
}

export function createRunStore(reader: Kysely<Tables>, write: Write, redactor: Redactor): RunStore {
  return {
    admitRun: (run) => write((tx) => admitRun(tx, run)),
    getRun: (id) => runs.getRun(reader, id),
    listRuns: (query) => runs.listRuns(reader, query),
    listQuarantined: (since, limit) => runs.listQuarantined(reader, since, limit),
    listStartable: (now, limit, busy) => startable.listStartable(reader, now, limit, busy),
    nextDueAt: (now) => startable.nextDueAt(reader, now),
    findAhead: (id) => startable.findAhead(reader, id),
    countRuns: () => runs.countRuns(reader),
    countRunning: () => runs.countRunning(reader),
    settleQueued: (id, outcome, at, effects) =>
      write((tx) => runs.settleQueued(tx, id, outcome, at, effects)),
    markCancelRequested: (id, at) => write((tx) => runs.markCancelRequested(tx, id, at)),
    limitRun: (id, request) => write((tx) => runs.limitRun(tx, id, request)),
    postponeRun: (id, until, why) => write((tx) => runs.postponeRun(tx, id, until, why)),
    hastenRun: (id, at) => write((tx) => runs.hastenRun(tx, id, at)),
    findSandboxWish: (run) => findSandboxWish(reader, run),
    listSpendOf: (id) => listSpendOf(reader, id),

    listEvents: (runId, query) => events.listEvents(reader, runId, query),
    countEvents: (runId, type) => events.countEvents(reader, runId, type),
    findNewestEvent: (runId, types) => events.findNewestEvent(reader, runId, types),

    listPending: (runId) => questions.listPending(reader, runId, redactor),
    listQuestions: (attemptId) => questions.listQuestions(reader, attemptId),
    answerQuestion: (runId, answer, by, at) => write((tx) => answerQuestion(tx, runId, answer, by, at)),

    sayToRun: (message, at) => write((tx) => messages.sayToRun(tx, message, at)),
    listRunMessages: (runId) => messages.listRunMessages(reader, runId),
    listUnread: (runId, sessionId) => messages.listUnread(reader, runId, sessionId),
    markRead: (attempt, ids, at) => write((tx) => messages.markRead(tx, attempt, ids, at)),
    listRunsWithOpenMessages: () => messages.listRunsWithOpenMessages(reader),
    settleMessage: (message, unread, at) => write((tx) => messages.settleMessage(tx, message, unread, at)),

    isCallAllowed: (id, call) => isCallAllowed(reader, id, call),

    getSession: (id) => sessions.getSession(reader, id),
    findSession: (id) => sessions.findSession(reader, id),
    listSessions: (query) => sessions.listSessions(reader, query),
    readTitles: (ids) => sessions.readTitles(reader, ids),
    listContinuing: (id) => sessions.listContinuing(reader, id),
    listIdleSessions: (query) => sessionState.listIdleSessions(reader, query),
    moveSession: (id, trigger, at) => write((tx) => sessionState.moveSession(tx, id, trigger, at)),
    noteArchived: (session, at) => write((tx) => sessionState.noteArchived(tx, session, at)),
    findLeaseHolder: (id) => sessions.findLeaseHolder(reader, id),
    findAnsweredPrompt: (session) => sessions.findAnsweredPrompt(reader, session),
  }
}
