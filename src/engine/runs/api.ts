/** The public interface of runs, chains and sessions. */
import type { Agent } from '../../contract/agent.ts'
import type { Chain } from '../../contract/chain.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import type { Approval, Escalation } from '../../contract/escalation.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { ListQuery, Page, Quarantined, Status } from '../../contract/http.ts'
import type { ConversationId, JobId, RunId, SessionId } from '../../contract/ids.ts'
import type { KeptProcessInfo } from '../../contract/kept.ts'
import type { NotificationTest, TestNotifications } from '../../contract/notification.ts'
import type { PruneReport, PruneRequest } from '../../contract/prune.ts'
import type { ToolResult } from '../../contract/question.ts'
import type { Run, RunDetail } from '../../contract/run.ts'
import type { Session, SessionDetail, SessionFilters } from '../../contract/session.ts'
import type { Stats } from '../../contract/stats.ts'
import type { RunRequest } from '../../store/runs/records.ts'

export interface RunEngine {
  /** Stores the intent. `created` is false if the key was seen before; the run is then the earlier one. */
  admit: (
    request: CreateRun,
    idempotencyKey: string | null,
    /** Marks the run for a further purpose. */
    purpose?: RunRequest['purpose'],
  ) => Promise<{ run: Run; created: boolean }>
  /** Resolves when the wish is stored; the run settles soon after. Cancelling a settled run is an error. */
  cancel: (id: RunId) => Promise<Run>
  /** Starts a queued run now that waits for a time or is paused. */
  continueRun: (id: RunId) => Promise<Run>
  answer: (id: RunId, answer: ToolResult) => Promise<Run>

  getRun: (id: RunId) => Promise<RunDetail>
  listRuns: (
    query: ListQuery & {
      state?: Run['state'] | undefined
      conversationId?: ConversationId | undefined
      jobId?: JobId | undefined
      session?: SessionId | undefined
    },
  ) => Promise<Page<Run>>
  /** All runs of the chain that this run belongs to, root first. */
  getChain: (id: RunId) => Promise<Chain>
  /** The tiers that wait for approval. */
  listApprovals: () => Promise<Escalation[]>
  /** Approves or refuses the tier after this run. Only the first decision counts. */
  decideApproval: (id: RunId, approval: Approval) => Promise<Escalation>
  /** Runs of the last days that are held because the daemon died while handling them, newest first. */
  listQuarantined: () => Promise<Quarantined[]>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>
  /** Which sandbox works on this machine. */
  findSandbox: () => Promise<Status['sandbox']>
  /** Since when writes to the disk fail, and why; null if they work. */
  /** The processes that wait for a turn. */
  listKept: () => KeptProcessInfo[]
  findStorageFailure: () => Status['cannotStore']
  describeDisks: () => Status['disks']
  /** The limits and outages that runs wait for, and how much of each account's limits is used. */
  describeObstacles: () => Promise<Pick<Status, 'obstacles' | 'quotas' | 'paused'>>

  /** The events after `afterSeq`, in order. */
  listEvents: (id: RunId, afterSeq: number, limit: number) => Promise<RunEvent[]>
  /** Calls the listener when the run may have new events. This is only a hint: listeners read at their own pace. */
  onProgress: (id: RunId, listener: () => void) => () => void

  listSessions: (query: ListQuery & SessionFilters) => Promise<Page<Session>>
  /** Accepts our id (`ses_…`) or the agent's own session id. */
  getSession: (id: string) => Promise<SessionDetail>
  /** Deletes the session with the agent's files. Refused with `conflict` while something goes on in it. */
  deleteSession: (id: string) => Promise<void>
  /** Deletes what is older than its time; with `dryRun`, only says what that is. */
  prune: (request: PruneRequest) => Promise<PruneReport>
  /** Sends a test notification to the configured targets, once each. */
  testNotifications: (request: TestNotifications) => Promise<NotificationTest[]>

  listAgents: () => Promise<Agent[]>
  readStats: () => Promise<Stats>
}
