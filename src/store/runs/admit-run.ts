/** Admits runs, once per idempotency key. */
import { createHash } from 'node:crypto'
import type { RunId } from '../../contract/ids.ts'
import { claimKey } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { NewRun, RunRecord } from './records.ts'
import { toRun } from './rows.ts'

export async function admitRun(tx: Tx, run: NewRun): Promise<{ run: RunRecord; created: boolean }> {
  const known = await claimRun(tx, run)
  return known ? { run: known, created: false } : { run: await insertRun(tx, run), created: true }
}

/** The run that was admitted with the key before. null: there is none, and the key is claimed for this run. */
export async function claimRun(tx: Tx, run: NewRun): Promise<RunRecord | null> {
  if (run.idempotencyKey === null) return null
  const key = { key: run.idempotencyKey, requestHash: hashOf(run) }
  const made = await claimKey(tx, 'run', key, run.id)
  if (made === null) return null
  return toRun(
    await tx
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', made as RunId)
      .executeTakeFirstOrThrow(),
  )
}

/** Without the directory for a turn: its conversation may have been moved since. */
function hashOf(run: NewRun): string {
  const { conversation, tier } = run
  const asked = [
    run.agent,
    run.model,
    conversation?.id ?? null,
    tier?.number ?? null,
    conversation ? null : run.workDir,
    toRequest(run),
  ]
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 32)
}

/** Includes the session and the prompt of the request, because those in the row may change later. */
function toRequest({ request, sessionId, prompt }: NewRun): string {
  const promptHash = createHash('sha256').update(prompt).digest('hex').slice(0, 16)
  return JSON.stringify({ ...request, sessionId, promptHash })
}

/** Does not store the key, which has been claimed already. */
export async function insertRun(tx: Tx, run: NewRun): Promise<RunRecord> {
  const row = await tx
    .insertInto('runs')
    .values({
      id: run.id,
      agent: run.agent,
      model: run.model,
      work_dir: run.workDir,
      prompt: run.prompt,
      prompt_id: run.promptId,
      request: toRequest(run),
      state: 'queued',
      lane: run.conversation?.id ?? run.sessionId,
      session_id: run.sessionId,
      conversation_id: run.conversation?.id ?? null,
      turn: run.conversation?.turn ?? null,
      job_id: run.job?.id ?? null,
      parent_run_id: run.tier?.parentRunId ?? null,
      tier: run.tier?.number ?? null,
      cycle_id: run.cycleId ?? null,
      follow_up_id: run.followUpId ?? null,
      budget_of: run.budgetOf ?? null,
      priority: run.job?.priority ?? 0,
      place: run.job?.place ?? null,
      holds_place: run.job?.holdsPlace ? 1 : 0,
      attempt_count: 0,
      interruptions: 0,
      resume_count: 0,
      last_seq: 0,
      input_tokens: 0,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      cost_estimated: 0,
      created_at: run.createdAt.getTime(),
    } as Tables['runs'])
    .returningAll()
    .executeTakeFirstOrThrow()
  return toRun(row)
}
