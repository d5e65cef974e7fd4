/**
 * The store as the engine sees it: asynchronous, and silent about which database is below. Everything that writes is
 * one atomic piece; when its promise resolves, it is on disk.
 */
import type { Kysely } from 'kysely'
import type { EventBody } from '../contract/events.ts'
import type { Page } from '../contract/http.ts'
import type { AttemptId, ConversationId, MessageId, RunId, SessionId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { ToolResult } from '../contract/run.ts'
import type { Stats } from '../contract/stats.ts'
import * as attempts from './attempts.ts'
import * as conversations from './conversations.ts'
import type { EventBatch } from './event-batch.ts'
import * as events from './events.ts'
import * as changes from './history-changes.ts'
import * as questions from './questions.ts'
import type {
  AttemptEnding,
  AttemptRecord,
  ConversationRecord,
  MessageRecord,
  NewConversation,
  NewRun,
  PinRecord,
  QuestionRecord,
  RunRecord,
  SessionRecord,
  StoredEvent,
  TurnEnding,
} from './records.ts'
import * as runs from './runs.ts'
import type { Tables } from './schema.ts'
import * as sessions from './sessions.ts'
import { readStats } from './stats.ts'
import * as turns from './turns.ts'
import { GroupWriter, type Tx } from './writer.ts'

export interface Store {
  admitRun: (run: NewRun) => Promise<{ run: RunRecord; created: boolean }>
  getRun: (id: RunId) => Promise<RunRecord | null>
  listRuns: (query: runs.RunQuery) => Promise<Page<RunRecord>>
  listStartable: (now: Date, limit: number) => Promise<RunRecord[]>
  nextDueAt: () => Promise<Date | null>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>
  settleQueued: (id: RunId, outcome: Outcome, at: Date, turn?: TurnEnding | null) => Promise<boolean>
  markCancelRequested: (id: RunId, at: Date) => Promise<boolean>
  postponeRun: (id: RunId, until: Date, why: string) => Promise<void>

  startAttempt: (input: attempts.StartInput) => Promise<AttemptRecord | null>
  markLaunched: (
    attempt: AttemptRecord,
    process: { pid: number; startTicks: string; bootId: string },
  ) => Promise<void>
  advanceAttempt: (
    attempt: AttemptRecord,
    events: EventBatch,
    spoolOffset: number,
    at: Date,
    options?: { urgent?: boolean },
  ) => Promise<number>
  setStopCause: (attempt: AttemptRecord, cause: string, message: string, at: Date) => Promise<boolean>
  endAttempt: (ending: AttemptEnding) => Promise<void>
  takeOver: (attempt: AttemptRecord, at: Date) => Promise<AttemptRecord>
  listAttempts: (runId: RunId) => Promise<AttemptRecord[]>
  listOpenAttempts: () => Promise<AttemptRecord[]>
  /** null: it has not ended, or there is no such attempt. */
  findAttemptEnd: (id: AttemptId) => Promise<Date | null>

  listEvents: (runId: RunId, query?: events.EventQuery) => Promise<StoredEvent[]>

  listPending: (runId: RunId) => Promise<QuestionRecord[]>
  /** All that the attempt asked, in order. */
  listQuestions: (attemptId: AttemptId) => Promise<QuestionRecord[]>
  answerQuestion: (
    runId: RunId,
    answer: ToolResult,
    by: 'person' | 'policy',
    at: Date,
  ) => Promise<QuestionRecord>

  getSession: (id: SessionId) => Promise<SessionRecord | null>
  findSession: (agentSessionId: string) => Promise<SessionRecord | null>
  listSessions: (query: { limit: number; cursor?: string | undefined }) => Promise<Page<SessionRecord>>
  findLeaseHolder: (id: SessionId) => Promise<RunId | null>
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
    change: { title?: string | undefined; instructions?: string | null | undefined },
    at: Date,
  ) => Promise<void>
  /** Returns the runs that were cancelled with it. */
  deleteConversation: (id: ConversationId, at: Date) => Promise<RunId[]>
  listMessages: (id: ConversationId, beforeTurn?: number) => Promise<MessageRecord[]>
  getPin: (id: ConversationId, agent: string) => Promise<PinRecord | null>
  listPins: (id: ConversationId) => Promise<PinRecord[]>
  admitTurn: (turn: turns.NewTurn) => Promise<{ run: RunRecord; created: boolean }>
  editMessage: (id: ConversationId, message: MessageId, text: string, at: Date) => Promise<MessageRecord>
  truncate: (
    id: ConversationId,
    message: MessageId,
    at: Date,
  ) => Promise<{ removed: number; orphaned: RunId[] }>
  retryFrom: (
    id: ConversationId,
    message: MessageId,
    createRun: (question: MessageRecord) => NewRun,
  ) => Promise<{ run: RunRecord; created: boolean; orphaned: RunId[] }>

  readStats: () => Promise<Stats>

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

export function createStore({ reader, writer }: Connections, windowMs: number): Store {
  const group = new GroupWriter(writer, windowMs)
  const write = <T>(work: (tx: Tx) => Promise<T>) => group.write(work, { urgent: true })
  return {
    admitRun: (run) => write((tx) => runs.admitRun(tx, run)),
    getRun: (id) => runs.getRun(reader, id),
    listRuns: (query) => runs.listRuns(reader, query),
    listStartable: (now, limit) => runs.listStartable(reader, now, limit),
    nextDueAt: () => runs.nextDueAt(reader),
    countRuns: () => runs.countRuns(reader),
    settleQueued: (id, outcome, at, turn) => write((tx) => runs.settleQueued(tx, id, outcome, at, turn)),
    markCancelRequested: (id, at) => write((tx) => runs.markCancelRequested(tx, id, at)),
    postponeRun: (id, until, why) => write((tx) => runs.postponeRun(tx, id, until, why)),

    startAttempt: (input) => write((tx) => attempts.startAttempt(tx, input)),
    markLaunched: (attempt, process) => write((tx) => attempts.markLaunched(tx, attempt, process)),
    advanceAttempt: (attempt, batch, offset, at, { urgent = false } = {}) =>
      group.write((tx) => attempts.advanceAttempt(tx, attempt, batch, offset, at), {
        urgent: urgent || batch.size >= LARGE_BATCH || batch.actedOn.some((event) => AWAITED.has(event.type)),
      }),
    setStopCause: (attempt, cause, message, at) =>
      write((tx) => attempts.setStopCause(tx, attempt, cause, message, at)),
    endAttempt: (ending) => write((tx) => attempts.endAttempt(tx, ending)),
    takeOver: (attempt, at) => write((tx) => attempts.takeOver(tx, attempt, at)),
    listAttempts: (runId) => attempts.listAttempts(reader, runId),
    listOpenAttempts: () => attempts.listOpenAttempts(reader),
    findAttemptEnd: (id) => attempts.findAttemptEnd(reader, id),

    listEvents: (runId, query) => events.listEvents(reader, runId, query),

    listPending: (runId) => questions.listPending(reader, runId),
    listQuestions: (attemptId) => questions.listQuestions(reader, attemptId),
    answerQuestion: (runId, answer, by, at) =>
      write((tx) => questions.answerQuestion(tx, runId, answer, by, at)),

    getSession: (id) => sessions.getSession(reader, id),
    findSession: (id) => sessions.findSession(reader, id),
    listSessions: (query) => sessions.listSessions(reader, query),
    findLeaseHolder: (id) => sessions.findLeaseHolder(reader, id),
    findConversationOf: (id) => sessions.findConversationOf(reader, id),

    createConversation: (conversation) => write((tx) => conversations.createConversation(tx, conversation)),
    getConversation: (id) => conversations.getConversation(reader, id),
    listConversations: (query) => conversations.listConversations(reader, query),
    updateConversation: (id, change, at) =>
      write((tx) => conversations.updateConversation(tx, id, change, at)),
    deleteConversation: (id, at) => write((tx) => conversations.deleteConversation(tx, id, at)),
    listMessages: (id, beforeTurn) => turns.listMessages(reader, id, beforeTurn),
    getPin: (id, agent) => turns.getPin(reader, id, agent),
    listPins: (id) => turns.listPins(reader, id),
    admitTurn: (turn) => write((tx) => turns.admitTurn(tx, turn)),
    editMessage: (id, message, text, at) => write((tx) => changes.editMessage(tx, id, message, text, at)),
    truncate: (id, message, at) => write((tx) => changes.truncate(tx, id, message, at)),
    retryFrom: (id, message, createRun) => write((tx) => changes.retryFrom(tx, id, message, createRun)),

    readStats: () => readStats(reader),

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
