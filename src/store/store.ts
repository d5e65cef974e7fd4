/**
 * The store as the engine sees it: asynchronous, and silent about which database is below. Everything that writes is
 * one atomic piece; when its promise resolves, it is on disk.
 */
import type { Kysely } from 'kysely'
import type { EventBody, EventType } from '../contract/events.ts'
import type { Page } from '../contract/http.ts'
import type { AttemptId, ConversationId, JobId, MessageId, RunId, SessionId } from '../contract/ids.ts'
import type { JobState, UpdateJob } from '../contract/job.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { ToolResult } from '../contract/run.ts'
import type { Stats } from '../contract/stats.ts'
import type { Notice, PlannedNotification } from '../core/notify/plan.ts'
import type { Met, Obstacle, Pauses } from '../core/obstacle/obstacle.ts'
import type { Passage } from '../core/obstacle/passage.ts'
import { NOTHING_TO_REDACT, type Redactor } from '../core/redact/redactor.ts'
import type { Tables } from './base/schema.ts'
import { GroupWriter, type Tx } from './base/writer.ts'
import { limitWaits, type MoveTimes, moveTimes } from './clock-changes.ts'
import * as conversations from './conversations/conversations.ts'
import * as changes from './conversations/history-changes.ts'
import * as outside from './conversations/outside.ts'
import type {
  ConversationRecord,
  MessageRecord,
  NewConversation,
  PinRecord,
} from './conversations/records.ts'
import * as turns from './conversations/turns.ts'
import * as checkpoints from './jobs/checkpoints.ts'
import * as jobs from './jobs/jobs.ts'
import type { CheckpointRecord, JobRecord, NewJob } from './jobs/records.ts'
import * as notifications from './notify/notifications.ts'
import type { NotificationRecord } from './notify/records.ts'
import * as obstacles from './obstacles/obstacles.ts'
import { admitRun } from './runs/admit-run.ts'
import type {
  AttemptEnding,
  AttemptRecord,
  PendingRecord,
  QuestionRecord,
  RunEnding,
} from './runs/attempt-records.ts'
import * as attempts from './runs/attempts.ts'
import type { EventBatch } from './runs/event-batch.ts'
import * as events from './runs/events.ts'
import * as questions from './runs/questions.ts'
import type { NewRun, RunRecord, SpendOfRun, StoredEvent } from './runs/records.ts'
import * as runs from './runs/runs.ts'
import type { SessionRecord } from './runs/session-records.ts'
import * as sessions from './runs/sessions.ts'
import { readStats } from './stats.ts'
import * as actions from './tiers/actions.ts'
import * as escalations from './tiers/escalations.ts'
import type { ActionRecord, EscalationRecord, TierEnding } from './tiers/records.ts'
import type { Watching } from './watches/store.ts'
import { createWatching } from './watches/store.ts'

export interface Store extends Watching {
  admitRun: (run: NewRun) => Promise<{ run: RunRecord; created: boolean }>
  getRun: (id: RunId) => Promise<RunRecord | null>
  listRuns: (query: runs.RunQuery) => Promise<Page<RunRecord>>
  /** Runs that are held because the daemon died of them, newest first. */
  listQuarantined: (since: Date, limit: number) => Promise<RunRecord[]>
  listStartable: (now: Date, limit: number, busy?: runs.Busy) => Promise<RunRecord[]>
  nextDueAt: (now: Date) => Promise<Date | null>
  /** The run that a queued one waits for in its lane, if that one waits itself and says why. */
  findWaitingAhead: (id: RunId) => Promise<{ id: RunId; why: string } | null>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>
  settleQueued: (id: RunId, outcome: Outcome, at: Date, ending?: RunEnding) => Promise<boolean>
  markCancelRequested: (id: RunId, at: Date) => Promise<boolean>
  postponeRun: (id: RunId, until: Date, why: string) => Promise<void>

  startAttempt: (input: attempts.StartInput) => Promise<AttemptRecord | null>
  markLaunched: (
    attempt: AttemptRecord,
    process: { pid: number; startTicks: string; bootId: string },
  ) => Promise<void>
  /** What is waiting to be committed with others need not wait any longer. */
  hurry: () => void
  advanceAttempt: (
    attempt: AttemptRecord,
    events: EventBatch,
    spoolOffset: number,
    at: Date,
    options?: { urgent?: boolean; heldFrom?: number | null },
  ) => Promise<number>
  /** How long it has worked and waited, in time that somebody watched. */
  noteWatched: (
    attempt: Pick<AttemptRecord, 'id' | 'fence'>,
    watched: AttemptRecord['watched'],
  ) => Promise<void>
  /** Adds events that did not come from the agent's output. */
  addEvents: (attempt: AttemptRecord, events: readonly EventBody[], at: Date) => Promise<void>
  setStopCause: (attempt: AttemptRecord, cause: string, message: string, at: Date) => Promise<boolean>
  endAttempt: (ending: AttemptEnding) => Promise<void>
  takeOver: (attempt: AttemptRecord, at: Date) => Promise<AttemptRecord>
  listAttempts: (runId: RunId) => Promise<AttemptRecord[]>
  listOpenAttempts: () => Promise<AttemptRecord[]>
  /** null: it has not ended, or there is no such attempt. */
  findAttemptEnd: (id: AttemptId) => Promise<Date | null>

  listEvents: (runId: RunId, query?: events.EventQuery) => Promise<StoredEvent[]>
  countEvents: (runId: RunId, type: EventType) => Promise<number>

  /** As it may be shown. */
  listPending: (runId: RunId) => Promise<PendingRecord[]>
  /** All that the attempt asked, in order, as it asked. */
  listQuestions: (attemptId: AttemptId) => Promise<QuestionRecord[]>
  answerQuestion: (
    runId: RunId,
    answer: ToolResult,
    by: 'person' | 'policy',
    at: Date,
  ) => Promise<QuestionRecord>

  getEscalation: (runId: RunId) => Promise<EscalationRecord | null>
  listEscalations: (runIds: readonly RunId[]) => Promise<EscalationRecord[]>
  /** Those that wait for a person, the most pressing first. */
  listWaitingEscalations: (limit: number) => Promise<EscalationRecord[]>
  /** null: it does not wait, or no more. */
  answerEscalation: (
    runId: RunId,
    answer: escalations.Answer,
    then: Pick<TierEnding, 'next' | 'notices'>,
  ) => Promise<EscalationRecord | null>
  /** All runs linked to this one, root first. */
  listChain: (id: RunId) => Promise<RunRecord[]>

  getSession: (id: SessionId) => Promise<SessionRecord | null>
  findSession: (agentSessionId: string) => Promise<SessionRecord | null>
  listSessions: (query: { limit: number; cursor?: string | undefined }) => Promise<Page<SessionRecord>>
  findLeaseHolder: (id: SessionId) => Promise<RunId | null>
  /** The prompt of the newest attempt that completed in the session under this id of the agent's. */
  findAnsweredPrompt: (session: Pick<SessionRecord, 'id' | 'agentSessionId'>) => Promise<string | null>
  /** The conversation that goes on in the session. */
  findConversationOf: (id: SessionId) => Promise<ConversationId | null>

  createConversation: (conversation: NewConversation) => Promise<ConversationRecord>
  getConversation: (id: ConversationId) => Promise<ConversationRecord | null>
  listConversations: (query: {
    limit: number
    cursor?: string | undefined
  }) => Promise<Page<ConversationRecord>>
  updateConversation: (
    id: ConversationId,
    change: conversations.ConversationChange,
    at: Date,
  ) => Promise<void>
  /** Returns the runs that were cancelled with it. */
  deleteConversation: (id: ConversationId, at: Date) => Promise<RunId[]>
  listMessages: (id: ConversationId, beforeTurn?: number) => Promise<MessageRecord[]>
  getPin: (id: ConversationId, agent: string) => Promise<PinRecord | null>
  listPins: (id: ConversationId) => Promise<PinRecord[]>
  listOwnPrompts: (id: SessionId) => Promise<string[]>
  noteGiven: (sessionId: SessionId, messageId: string) => Promise<void>
  listOutsideTurns: (id: SessionId) => Promise<outside.KnownOutsideTurn[]>
  takeInOutside: (findings: outside.OutsideFindings) => Promise<void>
  admitTurn: (turn: turns.NewTurn) => Promise<{ run: RunRecord; created: boolean }>
  editMessage: (
    id: ConversationId,
    message: MessageId,
    text: string,
    at: Date,
  ) => Promise<changes.EditedMessage>
  truncate: (
    id: ConversationId,
    message: MessageId,
    at: Date,
  ) => Promise<{ removed: number; orphaned: RunId[] }>
  retryFrom: (
    id: ConversationId,
    message: MessageId,
    createRun: (question: MessageRecord, before: RunRecord | null) => NewRun,
  ) => Promise<{ run: RunRecord; created: boolean; orphaned: RunId[] }>

  admitJob: (input: { job: NewJob; run: NewRun }) => Promise<{ job: JobRecord; created: boolean }>
  /** Gives the job another run. null: it is not in a state to go on from, or no longer where `after` left it. */
  continueJob: (id: JobId, after: RunId, run: NewRun, at: Date) => Promise<JobRecord | null>
  /** Gives up a paused job. False if it is not paused, or no longer where `after` left it. */
  dismissJob: (id: JobId, after: RunId, run: NewRun, at: Date) => Promise<boolean>
  /** With `goOn`, a job that is paused for its budget gets that run. */
  updateJob: (
    id: JobId,
    change: UpdateJob,
    goOn: { after: RunId; run: NewRun } | null,
    at: Date,
  ) => Promise<JobRecord | null>
  hastenRun: (id: RunId, at: Date) => Promise<boolean>
  getJob: (id: JobId) => Promise<JobRecord | null>
  listJobs: (query: jobs.JobQuery) => Promise<Page<JobRecord>>
  /** Long texts are cut: there may be many. */
  listRunsOfJobs: (ids: readonly JobId[]) => Promise<RunRecord[]>
  /** Of the runs of a job, or of one run, and of all that descend from them by follow-ups. */
  listSpendOf: (id: JobId | RunId) => Promise<SpendOfRun[]>
  findJobByKey: (idempotencyKey: string, requestHash: string) => Promise<JobRecord | null>
  countJobs: () => Promise<Partial<Record<JobState, number>>>
  addCheckpoint: (checkpoint: CheckpointRecord) => Promise<void>
  listCheckpoints: (id: JobId) => Promise<CheckpointRecord[]>
  listJobsWithOldCheckpoints: (endedBefore: Date, limit: number) => Promise<JobRecord[]>
  deleteCheckpoints: (id: JobId) => Promise<void>

  /** Returns how many are new. What happens in a transaction of its own is noted in that one instead. */
  enqueueNotifications: (items: readonly PlannedNotification[], at: Date) => Promise<number>
  listDueNotifications: (
    now: Date,
    limit: number,
    busyTargets?: readonly string[],
  ) => Promise<NotificationRecord[]>
  nextNotificationAt: (now: Date) => Promise<Date | null>
  markDelivered: (notification: NotificationRecord, at: Date) => Promise<boolean>
  /** `notBefore` null: given up. */
  markFailedTry: (
    notification: NotificationRecord,
    error: string,
    notBefore: Date | null,
    at: Date,
  ) => Promise<boolean>
  listNotifications: (subject: Notice['subject']) => Promise<NotificationRecord[]>
  deleteEndedNotifications: (before: Date) => Promise<number>

  claimActions: (claim: actions.ActionClaim) => Promise<actions.ClaimAnswer>
  listActions: (query: { since: Date; attemptId?: AttemptId | undefined }) => Promise<ActionRecord[]>
  deleteActions: (before: Date) => Promise<number>

  meetObstacle: (
    met: Met,
    attempt: obstacles.Access & { id: string; runId: RunId; startedAt: Date },
    pauses: Pauses,
    at: Date,
  ) => Promise<Obstacle>
  /** Lets a queued run start, or makes it wait behind what is in its way. */
  passObstacles: (
    run: { id: RunId; createdAt: Date },
    access: obstacles.Access,
    limitMs: number,
    now: Date,
  ) => Promise<Passage>
  /** Returns the runs that were let go. */
  closeObstacles: (access: obstacles.Access, runId: RunId, calledAt: Date, now: Date) => Promise<RunId[]>
  /** Releases runs that wait behind another account's obstacle, and forgets old ones. Returns the runs that were let go. */
  tidyObstacles: (ownAccountOf: Parameters<typeof obstacles.tidyObstacles>[1], now: Date) => Promise<RunId[]>
  listObstacles: (now: Date) => Promise<obstacles.OpenObstacle[]>
  /** Leaves a queued run to a person; `hastenRun` makes it go on. */
  pauseRun: (id: RunId, pause: obstacles.Pause, at: Date) => Promise<boolean>
  listPaused: () => Promise<RunId[]>

  readStats: () => Promise<Stats>

  /** The clock was set, or nobody watched for a while: the stored times move. */
  moveTimes: (move: MoveTimes) => Promise<void>
  /** The machine was restarted: nothing waits longer than it was meant to. */
  limitWaits: (now: Date) => Promise<void>

  getFact: (key: string) => Promise<string | null>
  putFact: (key: string, value: string) => Promise<void>

  close: () => Promise<void>
}

export interface Connections {
  reader: Kysely<Tables>
  writer: Kysely<Tables>
}

/** What is streamed may wait a little for company; these may not: somebody acts on them. */
const AWAITED: ReadonlySet<EventBody['type']> = new Set(['question-ask', 'permission-ask', 'tool-end'])
const LARGE_BATCH = 500

/** What the redactor takes out is never written where others read it: in events, messages to people, what is pending. */
export function createStore(
  { reader, writer }: Connections,
  windowMs: number,
  redactor: Redactor = NOTHING_TO_REDACT,
): Store {
  const group = new GroupWriter(writer, windowMs, redactor)
  const write = <T>(work: (tx: Tx) => Promise<T>) => group.write(work, { urgent: true })
  return {
    ...createWatching(reader, write),

    admitRun: (run) => write((tx) => admitRun(tx, run)),
    getRun: (id) => runs.getRun(reader, id),
    listRuns: (query) => runs.listRuns(reader, query),
    listQuarantined: (since, limit) => runs.listQuarantined(reader, since, limit),
    listStartable: (now, limit, busy) => runs.listStartable(reader, now, limit, busy),
    nextDueAt: (now) => runs.nextDueAt(reader, now),
    findWaitingAhead: (id) => runs.findWaitingAhead(reader, id),
    countRuns: () => runs.countRuns(reader),
    settleQueued: (id, outcome, at, ending) => write((tx) => runs.settleQueued(tx, id, outcome, at, ending)),
    markCancelRequested: (id, at) => write((tx) => runs.markCancelRequested(tx, id, at)),
    postponeRun: (id, until, why) => write((tx) => runs.postponeRun(tx, id, until, why)),

    startAttempt: (input) => write((tx) => attempts.startAttempt(tx, input)),
    markLaunched: (attempt, process) => write((tx) => attempts.markLaunched(tx, attempt, process)),
    hurry: () => group.hurry(),
    advanceAttempt: (attempt, batch, offset, at, { urgent = false, heldFrom = null } = {}) =>
      group.write((tx) => attempts.advanceAttempt(tx, attempt, batch, offset, heldFrom, at), {
        urgent: urgent || batch.size >= LARGE_BATCH || batch.actedOn.some((event) => AWAITED.has(event.type)),
      }),
    noteWatched: (attempt, watched) => write((tx) => attempts.noteWatched(tx, attempt, watched)),
    addEvents: (attempt, events, at) => write((tx) => attempts.addEvents(tx, attempt, events, at)),
    setStopCause: (attempt, cause, message, at) =>
      write((tx) => attempts.setStopCause(tx, attempt, cause, message, at)),
    endAttempt: (ending) => write((tx) => attempts.endAttempt(tx, ending)),
    takeOver: (attempt, at) => write((tx) => attempts.takeOver(tx, attempt, at)),
    listAttempts: (runId) => attempts.listAttempts(reader, runId),
    listOpenAttempts: () => attempts.listOpenAttempts(reader),
    findAttemptEnd: (id) => attempts.findAttemptEnd(reader, id),

    listEvents: (runId, query) => events.listEvents(reader, runId, query),
    countEvents: (runId, type) => events.countEvents(reader, runId, type),

    listPending: (runId) => questions.listPending(reader, runId, redactor),
    listQuestions: (attemptId) => questions.listQuestions(reader, attemptId),
    answerQuestion: (runId, answer, by, at) =>
      write((tx) => questions.answerQuestion(tx, runId, answer, by, at)),

    getEscalation: (runId) => escalations.getEscalation(reader, runId),
    listEscalations: (runIds) => escalations.listEscalations(reader, runIds),
    listWaitingEscalations: (limit) => escalations.listWaiting(reader, limit),
    answerEscalation: (runId, answer, then) =>
      write((tx) => escalations.answerEscalation(tx, runId, answer, then)),
    listChain: (id) => escalations.listChain(reader, id),

    getSession: (id) => sessions.getSession(reader, id),
    findSession: (id) => sessions.findSession(reader, id),
    listSessions: (query) => sessions.listSessions(reader, query),
    findLeaseHolder: (id) => sessions.findLeaseHolder(reader, id),
    findAnsweredPrompt: (session) => sessions.findAnsweredPrompt(reader, session),
    findConversationOf: (id) => sessions.findConversationOf(reader, id),

    createConversation: (conversation) => write((tx) => conversations.createConversation(tx, conversation)),
    getConversation: (id) => conversations.getConversation(reader, id),
    listConversations: (query) => conversations.listConversations(reader, query),
    updateConversation: (id, change, at) =>
      write((tx) => conversations.updateConversation(tx, id, change, at)),
    deleteConversation: (id, at) => write((tx) => changes.deleteConversation(tx, id, at)),
    listMessages: (id, beforeTurn) => turns.listMessages(reader, id, beforeTurn),
    getPin: (id, agent) => turns.getPin(reader, id, agent),
    listPins: (id) => turns.listPins(reader, id),
    listOwnPrompts: (id) => outside.listOwnPrompts(reader, id),
    noteGiven: (sessionId, messageId) => write((tx) => outside.noteGiven(tx, sessionId, messageId)),
    listOutsideTurns: (id) => outside.listOutsideTurns(reader, id),
    takeInOutside: (findings) => write((tx) => outside.takeInOutside(tx, findings)),
    admitTurn: (turn) => write((tx) => turns.admitTurn(tx, turn)),
    editMessage: (id, message, text, at) => write((tx) => changes.editMessage(tx, id, message, text, at)),
    truncate: (id, message, at) => write((tx) => changes.truncate(tx, id, message, at)),
    retryFrom: (id, message, createRun) => write((tx) => changes.retryFrom(tx, id, message, createRun)),

    admitJob: (input) => write((tx) => jobs.admitJob(tx, input)),
    continueJob: (id, after, run, at) => write((tx) => jobs.continueJob(tx, id, after, run, at)),
    dismissJob: (id, after, run, at) => write((tx) => jobs.dismissJob(tx, id, after, run, at)),
    updateJob: (id, change, goOn, at) => write((tx) => jobs.updateJob(tx, id, change, goOn, at)),
    hastenRun: (id, at) => write((tx) => jobs.hastenRun(tx, id, at)),
    getJob: (id) => jobs.getJob(reader, id),
    listJobs: (query) => jobs.listJobs(reader, query),
    listRunsOfJobs: (ids) => jobs.listRunsOfJobs(reader, ids),
    listSpendOf: (id) => jobs.listSpendOf(reader, id),
    findJobByKey: (key, hash) => jobs.findJobByKey(reader, key, hash),
    countJobs: () => jobs.countJobs(reader),
    addCheckpoint: (checkpoint) => write((tx) => checkpoints.addCheckpoint(tx, checkpoint)),
    listCheckpoints: (id) => checkpoints.listCheckpoints(reader, id),
    listJobsWithOldCheckpoints: (before, limit) =>
      checkpoints.listJobsWithOldCheckpoints(reader, before, limit),
    deleteCheckpoints: (id) => write((tx) => checkpoints.deleteCheckpoints(tx, id)),

    enqueueNotifications: (items, at) => write((tx) => notifications.enqueueNotifications(tx, items, at)),
    listDueNotifications: (now, limit, busy) => notifications.listDueNotifications(reader, now, limit, busy),
    nextNotificationAt: (now) => notifications.nextNotificationAt(reader, now),
    markDelivered: (notification, at) => write((tx) => notifications.markDelivered(tx, notification, at)),
    markFailedTry: (notification, error, notBefore, at) =>
      write((tx) => notifications.markFailedTry(tx, notification, error, notBefore, at)),
    listNotifications: (subject) => notifications.listNotifications(reader, subject),
    deleteEndedNotifications: (before) => write((tx) => notifications.deleteEndedNotifications(tx, before)),

    claimActions: (claim) => write((tx) => actions.claimActions(tx, claim)),
    listActions: (query) => actions.listActions(reader, query),
    deleteActions: (before) => write((tx) => actions.deleteActions(tx, before)),

    meetObstacle: (met, attempt, pauses, at) =>
      write((tx) => obstacles.meetObstacle(tx, met, attempt, pauses, at)),
    passObstacles: (run, access, limitMs, now) =>
      write((tx) => obstacles.passObstacles(tx, run, access, limitMs, now)),
    closeObstacles: (access, runId, calledAt, now) =>
      write((tx) => obstacles.closeObstacles(tx, access, runId, calledAt, now)),
    tidyObstacles: (ownAccountOf, now) => write((tx) => obstacles.tidyObstacles(tx, ownAccountOf, now)),
    listObstacles: (now) => obstacles.listObstacles(reader, now),
    pauseRun: (id, pause, at) => write((tx) => obstacles.pauseRun(tx, id, pause, at)),
    listPaused: () => obstacles.listPaused(reader),

    readStats: () => readStats(reader),

    moveTimes: (move) => write((tx) => moveTimes(tx, move)),
    limitWaits: (now) => write((tx) => limitWaits(tx, now)),

    getFact: async (key) =>
      (await reader.selectFrom('facts').select('value').where('key', '=', key).executeTakeFirst())?.value ??
      null,
    putFact: (key, value) =>
      write(async (tx) => {
        await tx
          .insertInto('facts')
          .values({ key, value })
          .onConflict((oc) => oc.column('key').doUpdateSet({ value }))
          .execute()
      }),

    close: async () => {
      await group.idle()
      await reader.destroy()
      await writer.destroy()
    },
  }
}
