import type { RunId } from '../../contract/ids.ts'
import { OwnershipLost, QuestionEdited } from '../base/errors.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptEnding } from './attempt-records.ts'
import { countCacheUse } from './cache-totals.ts'
import { appendEvents } from './events.ts'
import { keepProcess } from './kept-processes.ts'
import { returnMessages } from './messages.ts'
import { sumOfAttempts } from './price-attempt.ts'
import type { KeptProcess } from './process-records.ts'
import { endProcess } from './processes.ts'
import { closeQuestions } from './questions.ts'
import { PAUSED_MS } from './rows.ts'
import { announceChange, announceDelay, CHANGE_COLUMNS } from './run-changes.ts'
import { clearPoison, updateSession } from './sessions.ts'
import { countSettled } from './totals.ts'

/** Returns the process of the attempt, if it is kept. */
export async function endAttempt(tx: Tx, ending: AttemptEnding): Promise<KeptProcess | null> {
  const { attempt, at, spend } = ending
  const next = await unlessReleased(tx, ending.next, at)
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({
      state: 'ended',
      exit_code: ending.exitCode,
      outcome: JSON.stringify(ending.outcome),
      cost_usd: ending.costUsd,
      context_tokens: ending.session.contextTokens,
      context_window: ending.session.contextWindow,
      cache_use: ending.cacheUse ? JSON.stringify(ending.cacheUse) : null,
      ended_at: at.getTime(),
    })
    .where('id', '=', attempt.id)
    .where('fence', '=', attempt.fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${attempt.id}`)
  const kept = ending.keep ? await keepProcess(tx, attempt, ending.keep) : null
  if (kept === null) await endProcess(tx, attempt, at)
  await closeQuestions(tx, attempt.id, at)
  await returnMessages(tx, attempt, ending.lostMessages ?? [])
  await updateSession(tx, attempt, ending.session, ending.costUsd ?? 0, at)
  if (ending.cacheUse) await countCacheUse(tx, ending.cacheUse)
  if (ending.clearedSessionId) await clearPoison(tx, ending.clearedSessionId)
  const costUsd = await sumOfAttempts(tx, attempt.runId)
  const changed = await tx
    .updateTable('runs')
    .set((eb) => ({
      ...(next.kind === 'settle'
        ? {
            state: 'settled',
            outcome: JSON.stringify(next.outcome),
            outcome_name: next.outcome.name,
            message: next.outcome.message,
            ended_at: at.getTime(),
          }
        : {
            state: 'queued',
            not_before: next.kind === 'pause' ? PAUSED_MS : next.notBefore.getTime(),
            wait_ms: next.kind === 'pause' ? null : next.notBefore.getTime() - at.getTime(),
            message: next.why,
            held_by: next.heldBy ?? null,
          }),
      ...(ending.clearedSessionId ? { session_id: ending.clearedSessionId } : {}),
      interruptions: eb('interruptions', '+', ending.interruptions),
      model_calls: ending.done.modelCalls,
      tool_calls: ending.done.toolCalls,
      refusals: ending.done.refusals,
      result_text: ending.resultText,
      input_tokens: spend.usage.inputTokens,
      output_tokens: spend.usage.outputTokens,
      cache_read_tokens: spend.usage.cacheReadTokens,
      cache_write_tokens: spend.usage.cacheWriteTokens,
      cost_usd: costUsd,
      cost_estimated: spend.estimated ? 1 : 0,
      context_tokens: spend.contextTokens,
      context_window: spend.contextWindow,
    }))
    .where('id', '=', attempt.runId)
    .where('state', '=', 'running')
    .$if(ending.outdatedAttempts !== undefined, (update) =>
      update.where('outdated_attempts', '=', ending.outdatedAttempts ?? 0),
    )
    .returning(CHANGE_COLUMNS)
    .executeTakeFirst()
  if (!changed) throw await whyNotChanged(tx, attempt.runId)
  if (next.kind === 'settle') await countSettled(tx, attempt.runId)
  if (next.kind === 'pause') await announceDelay(tx, attempt.runId, PAUSED_MS - at.getTime())
  if (next.kind === 'retry' && next.heldBy) {
    await announceDelay(tx, attempt.runId, next.notBefore.getTime() - at.getTime())
  }
  await announceChange(tx, changed, at, ending.effects)
  await appendEvents(tx, attempt.runId, attempt.id, ending.events, at)
  return kept
}

/**
 * The obstacle that the run was to wait behind may have been closed since the decision. Nothing would release the run
 * then, so it starts now.
 */
async function unlessReleased(tx: Tx, next: AttemptEnding['next'], at: Date): Promise<AttemptEnding['next']> {
  if (next.kind === 'settle' || !next.heldBy) return next
  for (const listener of tx.listeners) {
    const why = await listener.whyReleased?.(tx, next.heldBy)
    if (why) return { kind: 'retry', notBefore: at, why }
  }
  return next
}

async function whyNotChanged(tx: Tx, id: RunId): Promise<Error> {
  const run = await tx.selectFrom('runs').select('state').where('id', '=', id).executeTakeFirst()
  return run?.state === 'running'
    ? new QuestionEdited(`the question of run ${id}`)
    : new OwnershipLost(`run ${id}`)
}
