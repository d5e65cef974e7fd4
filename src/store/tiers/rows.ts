/** Converts rows of actions to records. */
import type { ActionRecord } from './records.ts'
import type { ActionsTable } from './schema.ts'

export function toAction(row: ActionsTable): ActionRecord {
  return {
    id: row.id,
    rule: row.rule,
    service: row.service,
    scope: row.scope,
    command: row.command,
    runId: row.run_id,
    attemptId: row.attempt_id,
    callId: row.call_id,
    at: new Date(Number(row.at)),
  }
}
