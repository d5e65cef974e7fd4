/** Runs are admitted once per idempotency key. */
import { createHash } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { NewRun, RunRecord } from './records.ts'
import { toRun } from './rows.ts'

export async function admitRun(tx: Tx, run: NewRun): Promise<{ run: RunRecord; created: boolean }> {
  // With the session and the prompt that were asked for: the row's own may change later.
  const promptHash = createHash('sha256').update(run.prompt).digest('hex').slice(0, 16)
  const request = JSON.stringify({ ...run.request, sessionId: run.sessionId, promptHash })
  const known = await findRow(tx, run.idempotencyKey)
  if (known) {
    const same =
      // A turn is asked where its conversation is, which may have been moved since.
      (known.conversation_id !== null || known.work_dir === run.workDir) &&
      known.agent === run.agent &&
      known.model === run.model &&
      known.conversation_id === (run.conversation?.id ?? null) &&
      known.tier === (run.tier?.number ?? null) &&
      known.request === request
    if (same) return { run: toRun(known), created: false }
    throw new RepriseError('conflict', `Idempotency-Key ${run.idempotencyKey} was used for another request`, {
      hint: 'Use a new key for a new request.',
      details: { runId: known.id },
    })
  }
  const row = await tx
    .insertInto('runs')
    .values({
      id: run.id,
      idempotency_key: run.idempotencyKey,
      agent: run.agent,
      model: run.model,
      work_dir: run.workDir,
      prompt: run.prompt,
      prompt_id: run.promptId,
      request,
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
      crash_count: 0,
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
  return { run: toRun(row), created: true }
}

async function findRow(tx: Tx, idempotencyKey: string | null) {
  if (idempotencyKey === null) return undefined
  return tx.selectFrom('runs').selectAll().where('idempotency_key', '=', idempotencyKey).executeTakeFirst()
}

export async function findByKey(tx: Tx, idempotencyKey: string | null): Promise<RunRecord | null> {
  const row = await findRow(tx, idempotencyKey)
  return row ? toRun(row) : null
}
