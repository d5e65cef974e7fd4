/** The store interface of conversations. */
import type { Kysely } from 'kysely'
import type { Page } from '../../contract/http.ts'
import type { ConversationId, JobId, MessageId, RunId, SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import * as adoption from './adopt.ts'
import * as conversations from './conversations.ts'
import * as copies from './copies.ts'
import * as changes from './history-changes.ts'
import * as moves from './moves.ts'
import * as outside from './outside.ts'
import type { ConversationRecord, MessageRecord, NewConversation, PinRecord } from './records.ts'
import { forgetStaged } from './staging.ts'
import * as turns from './turns.ts'

export interface ConversationStore {
  /** The conversation that uses the session. */
  findConversationOf: (id: SessionId) => Promise<ConversationId | null>
  createConversation: (conversation: NewConversation) => Promise<ConversationRecord>
  getConversation: (id: ConversationId) => Promise<ConversationRecord | null>
  listConversations: (query: conversations.ConversationQuery) => Promise<Page<ConversationRecord>>
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
  listOutsideIds: (id: SessionId) => Promise<string[]>
  listOutsideTurns: (id: SessionId) => Promise<outside.KnownOutsideTurn[]>
  /** Takes over a session that was made without Reprise, with its turns; see adopt.ts. */
  adoptSession: (adoption: adoption.Adoption) => Promise<adoption.Adopted>
  /** The session that has, or had, this id of the agent. */
  findKnownSession: (agentSessionId: string) => Promise<SessionId | null>
  takeInOutside: (findings: outside.OutsideFindings) => Promise<void>
  /** Stores sessions that begin as copies of others, and perhaps the conversation that uses them. */
  addCopies: (
    sessions: readonly copies.CopiedSession[],
    conversation: copies.CopiedConversation | null,
  ) => Promise<void>
  /** Deletes what a daemon left that died while it stored a long history. */
  forgetStaged: () => Promise<void>
  /** Returns false if a run is using the session. */
  relocateSession: (moving: moves.SessionMoving) => Promise<boolean>
  /** The jobs whose newest run worked in the session. */
  listJobsOfSession: (id: SessionId) => Promise<JobId[]>
  /** null: the session did not begin as a copy. */
  getOrigin: (id: SessionId) => Promise<copies.SessionOrigin | null>
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
}

export function createConversationStore(reader: Kysely<Tables>, write: Write): ConversationStore {
  return {
    findConversationOf: (id) => turns.findConversationOf(reader, id),
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
    listOutsideIds: (id) => outside.listOutsideIds(reader, id),
    listOutsideTurns: (id) => outside.listOutsideTurns(reader, id),
    adoptSession: (one) => adoption.adoptSession(write, one),
    findKnownSession: (agentSessionId) => adoption.findKnown(reader, agentSessionId),
    takeInOutside: (findings) => write((tx) => outside.takeInOutside(tx, findings)),
    addCopies: (sessions, conversation) => copies.addCopies(write, sessions, conversation),
    forgetStaged: () => write(forgetStaged),
    relocateSession: (moving) => write((tx) => moves.relocateSession(tx, moving)),
    listJobsOfSession: (id) => moves.listJobsOfSession(reader, id),
    getOrigin: (id) => copies.getOrigin(reader, id),
    admitTurn: (turn) => write((tx) => turns.admitTurn(tx, turn)),
    editMessage: (id, message, text, at) => write((tx) => changes.editMessage(tx, id, message, text, at)),
    truncate: (id, message, at) => write((tx) => changes.truncate(tx, id, message, at)),
    retryFrom: (id, message, createRun) => write((tx) => changes.retryFrom(tx, id, message, createRun)),
  }
}
