/** Converts rows of actions to records. */
import { date } from '../base/columns.ts'
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
    toolUseId: row.tool_use_id,
    line: row.line,
    at: new Date(Number(row.at)),
    startedAt: date(row.started_at),
  }
}
