/** Reads the runs of many jobs at once, without their long texts. */
import { type Kysely, sql } from 'kysely'
import type { JobId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { RunRecord } from '../runs/records.ts'
import { toRun } from '../runs/rows.ts'

/** Oldest first. Only the beginning of prompts and answers is read, because there may be many long ones. */
export async function listRunsOfJobs(db: Kysely<Tables>, ids: readonly JobId[]): Promise<RunRecord[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs')
    .select(SHORT_COLUMNS)
    .select([
      sql<string>`substr(prompt, 1, ${sql.lit(KEPT_CHARS)})`.as('prompt'),
      sql<string | null>`substr(result_text, 1, ${sql.lit(KEPT_CHARS)})`.as('result_text'),
    ])
    .where('job_id', 'in', ids)
    .where('job_id', 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map(toRun)
}

const KEPT_CHARS = 4000
/**
 * All columns except the two that may be long. `toRun` accepts only whole rows, so the compiler reports a missing
 * column.
 */
const SHORT_COLUMNS = [
  'directory_settings',
  'id',
  'agent',
  'model',
  'work_dir',
  'prompt_id',
  'request',
  'state',
  'lane',
  'session_id',
  'not_before',
  'wait_ms',
  'held_by',
  'continued',
  'cancel_requested_at',
  'outcome',
  'outcome_name',
  'message',
  'resumed',
  'fresh_reason',
  'sandbox',
  'carry',
  'attempt_count',
  'outdated_attempts',
  'interruptions',
  'resume_count',
  'last_seq',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'cost_estimated',
  'context_tokens',
  'context_window',
  'parent_run_id',
  'tier',
  'conversation_id',
  'turn',
  'prompt_chars',
  'transcript_chars',
  'left_out',
  'job_id',
  'cycle_id',
  'follow_up_id',
  'budget_of',
  'priority',
  'place',
  'holds_place',
  'model_calls',
  'tool_calls',
  'refusals',
  'created_at',
  'started_at',
  'ended_at',
  'events_swept',
] as const
