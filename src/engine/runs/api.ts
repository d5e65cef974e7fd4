/** What the outside may ask of runs, the chains they form, and the sessions they are in. */
import type { Agent } from '../../contract/agent.ts'
import type { Chain } from '../../contract/chain.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import type { Approval, Escalation } from '../../contract/escalation.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { ListQuery, Page, Quarantined, Status } from '../../contract/http.ts'
import type { RunId } from '../../contract/ids.ts'
import type { ToolResult } from '../../contract/question.ts'
import type { Run, RunDetail } from '../../contract/run.ts'
import type { Session, SessionDetail } from '../../contract/session.ts'
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
}
