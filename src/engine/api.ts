/** What the outside may ask of the engine. The server, and whoever embeds Reprise, see nothing else of it. */
import type { Agent } from '../contract/agent.ts'
import type { Chain } from '../contract/chain.ts'
import type {
  Conversation,
  ConversationDetail,
  ConversationMove,
  CreateConversation,
  CreateTurn,
  Message,
  RetryTurn,
  UpdateConversation,
  UpdatedConversation,
} from '../contract/conversation.ts'
import type { Approval, Escalation } from '../contract/escalation.ts'
import type { RunEvent } from '../contract/events.ts'
import type { ListQuery, Page, Quarantined, Status } from '../contract/http.ts'
import type { ConversationId, MessageId, RunId } from '../contract/ids.ts'
import type { CreateRun, Run, RunDetail, ToolResult } from '../contract/run.ts'
import type { Session, SessionDetail } from '../contract/session.ts'
import type { Stats } from '../contract/stats.ts'
import type { Changes } from './base/changes.ts'
import type { JobEngine } from './jobs/api.ts'
import type { WatchEngine } from './watches/api.ts'

export type { Changes }

export interface Engine extends JobEngine, WatchEngine {
  /** Stores the intent. `created` is false if the key was seen before; the run is then the earlier one. */
  admit: (request: CreateRun, idempotencyKey: string | null) => Promise<{ run: Run; created: boolean }>
  /** Resolves when the wish is stored; the run settles soon after. Cancelling a settled run is an error. */
  cancel: (id: RunId) => Promise<Run>
  /** Makes a queued run go on that waits, or is paused, instead of at its time. */
  continueRun: (id: RunId) => Promise<Run>
  answer: (id: RunId, answer: ToolResult) => Promise<Run>

  getRun: (id: RunId) => Promise<RunDetail>
  listRuns: (query: ListQuery & { state?: Run['state'] | undefined }) => Promise<Page<Run>>
  /** Every run that escalation has linked to this one, root first. */
  getChain: (id: RunId) => Promise<Chain>
  /** Tiers that wait for a person. */
  listApprovals: () => Promise<Escalation[]>
  /** Lets the tier after this run start, or not. Once. */
  decideApproval: (id: RunId, approval: Approval) => Promise<Escalation>
  /** Runs of the last days that are held because the daemon died of them, newest first. */
  listQuarantined: () => Promise<Quarantined[]>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>
  /** Since when the disk takes nothing, and why; null if it does. */
  findStorageFailure: () => Status['cannotStore']
  /** Limits and outages that runs wait behind, and how much of each account's limits is used. */
  describeObstacles: () => Promise<Pick<Status, 'obstacles' | 'quotas' | 'paused'>>

  /** In order, from after `afterSeq`. */
  listEvents: (id: RunId, afterSeq: number, limit: number) => Promise<RunEvent[]>
  /** Calls back when the run may have new events. Only a hint: listeners look for themselves, at their own pace. */
  onProgress: (id: RunId, listener: () => void) => () => void

  listSessions: (query: ListQuery) => Promise<Page<Session>>
  /** By our id (`ses_…`) or by the agent's own. */
  getSession: (id: string) => Promise<SessionDetail>

  listAgents: () => Promise<Agent[]>
  readStats: () => Promise<Stats>

  createConversation: (request: CreateConversation) => Promise<Conversation>
  listConversations: (query: ListQuery) => Promise<Page<Conversation>>
  getConversation: (id: ConversationId) => Promise<ConversationDetail>
  updateConversation: (id: ConversationId, change: UpdateConversation) => Promise<UpdatedConversation>
  /** What it would mean to move it there. */
  planMove: (id: ConversationId, workDir: string) => Promise<ConversationMove>
  /** Open runs of it are cancelled; settled ones stay as records. */
  deleteConversation: (id: ConversationId) => Promise<void>
  createTurn: (
    id: ConversationId,
    request: CreateTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
  editMessage: (id: ConversationId, message: MessageId, text: string) => Promise<Message>
  /** Takes away the message and everything after it; runs that were to answer it are cancelled. */
  truncate: (id: ConversationId, message: MessageId) => Promise<{ removed: number }>
  /** Asks the question of that message's turn again, as if nothing had come after it. */
  retryFrom: (
    id: ConversationId,
    message: MessageId,
    request: RetryTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
}
