/** The tables of escalations and of actions with a cooldown. */
import type { ActionId, AttemptId, RunId } from '../../contract/ids.ts'

/** What followed from a settled run at a tier. `ask` is replaced by one of the others, once. */
export interface EscalationsTable {
  run_id: RunId
  tier: number
  decision: 'escalate' | 'ask' | 'stop'
  reason: string
  message: string
  to_tier: number | null
  next_run_id: RunId | null
  recommendation: string
  decided_by: 'rules' | 'person' | 'timeout'
  decided_at: number
  /** Until when a person may answer. */
  expires_at: number | null
}

/** Actions on services; see actions.ts. */
export interface ActionsTable {
  id: ActionId
  rule: string
  service: string
  scope: string | null
  run_id: RunId
  attempt_id: AttemptId
  /** The id of the tool call or of the program's call that claimed it. */
  call_id: string | null
  command: string
  at: number
}

declare module '../base/schema.ts' {
  interface Tables {
    escalations: EscalationsTable
    actions: ActionsTable
  }
}
