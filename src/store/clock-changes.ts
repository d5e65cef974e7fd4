/**
 * Moves stored times after the clock was set or the daemon was suspended; core/steady-clock.ts decides which times move
 * by how much. All of them move in one transaction with the new difference between the clocks, so that a jump is
 * applied once, even if the daemon dies in the middle.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FollowUpId, WatchId } from '../contract/ids.ts'
import { MAX_PAUSE_MS } from '../core/obstacle/obstacle.ts'
import type { ClockChange } from '../core/steady-clock.ts'
import type { Tx } from './base/transaction.ts'
import { PAUSED_MS } from './runs/rows.ts'

export interface MoveTimes extends ClockChange {
  /** The new firing times of watches that do not simply keep the rest of their wait. */
  watches: readonly { id: WatchId; due: { at: Date; fireAt: Date } | null }[]
  /** The due times of follow-ups that follow the time of day. */
  followUps?: readonly { id: FollowUpId; dueAt: Date }[]
  /** The stored clock reading by which the next jump is detected. */
  clock: string
}

export const CLOCK_FACT = 'clock'

export async function moveTimes(
  tx: Tx,
  { jumpMs, missedMs, watches, followUps = [], clock }: MoveTimes,
): Promise<void> {
  if (jumpMs !== 0) await followJump(tx, jumpMs)
  await extendLimits(tx, jumpMs + missedMs)
  for (const { id, due } of watches) {
    await tx
      .updateTable('watches')
      .set({ due_at: due?.at.getTime() ?? null, next_at: due?.fireAt.getTime() ?? null })
      .where('id', '=', id)
      .execute()
  }
  for (const { id, dueAt } of followUps) {
    await tx
      .updateTable('follow_ups')
      .set({ due_at: dueAt.getTime() })
      .where('id', '=', id)
      .where('state', '=', 'planned')
      .execute()
  }
  await tx
    .insertInto('facts')
    .values({ key: CLOCK_FACT, value: clock })
    .onConflict((oc) => oc.column('key').doUpdateSet({ value: clock }))
    .execute()
}

/** Moves times that were given as a duration from now, and times that mark when something began. */
async function followJump(tx: Tx, byMs: number): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ not_before: plus('not_before', byMs) })
    .where('state', '=', 'queued')
    // Paused runs have no due time.
    .where('not_before', '<', PAUSED_MS)
    .execute()
  await tx
    .updateTable('obstacles')
    .set({
      next_try_at: plus('next_try_at', byMs),
      last_failure_at: plus('last_failure_at', byMs),
      probe_since: plus('probe_since', byMs),
    })
    .execute()
  // The start times of work that has not ended move too.
  await tx
    .updateTable('runs')
    .set({ created_at: plus('created_at', byMs), started_at: plus('started_at', byMs) })
    .where('state', '<>', 'settled')
    .execute()
  await tx
    .updateTable('attempts')
    .set({ started_at: plus('started_at', byMs), ended_at: plus('ended_at', byMs) })
    .where('run_id', 'in', (eb) =>
      eb.selectFrom('runs').select('runs.id').where('runs.state', '<>', 'settled'),
    )
    .execute()
  await tx
    .updateTable('processes')
    .set({ started_at: plus('started_at', byMs) })
    .where('state', '<>', 'gone')
    .execute()
  await tx
    .updateTable('follow_ups')
    .set({ due_at: plus('due_at', byMs) })
    .where('state', '=', 'planned')
    .where('relative', '=', 1)
    .execute()
  await tx
    .updateTable('follow_ups')
    .set({ created_at: plus('created_at', byMs), expires_at: plus('expires_at', byMs) })
    .where('state', '=', 'planned')
    .execute()
  await tx
    .updateTable('notifications')
    .set({ not_before: plus('not_before', byMs) })
    .where('state', '=', 'pending')
    .execute()
  await tx
    .updateTable('cycles')
    .set({ started_at: plus('started_at', byMs) })
    .where('state', '=', 'open')
    .execute()
  await tx
    .updateTable('actions')
    .set({ at: plus('at', byMs) })
    .execute()
}

/** Extends the time limits of agents and people by the time in which the daemon was suspended. */
async function extendLimits(tx: Tx, byMs: number): Promise<void> {
  await tx
    .updateTable('cycles')
    .set({ deadline_at: plus('deadline_at', byMs) })
    .where('state', '=', 'open')
    // The deadline of a cycle whose run is paused does not advance: it is set again when the run continues.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs')
            .select('runs.id')
            .whereRef('runs.cycle_id', '=', 'cycles.id')
            .where('runs.state', '=', 'queued')
            .where('runs.not_before', '>=', PAUSED_MS),
        ),
      ),
    )
    .execute()
  await tx
    .updateTable('escalations')
    .set({ expires_at: plus('expires_at', byMs) })
    .where('decision', '=', 'ask')
    .execute()
  // `since` limits how long an obstacle is waited for.
  await tx
    .updateTable('obstacles')
    .set({ since: plus('since', byMs) })
    .execute()
}

/** null stays null. */
const plus = (column: string, ms: number): RawBuilder<number> => sql`${sql.ref(column)} + ${ms}`

/** After a restart of the machine, whose clock may be wrong: limits every wait to its intended length. */
export async function limitWaits(tx: Tx, now: Date): Promise<void> {
  const at = now.getTime()
  const latest = sql<number>`${at} + coalesce(wait_ms, 0)`
  await tx
    .updateTable('runs')
    .set({ not_before: latest })
    .where('state', '=', 'queued')
    .where('not_before', '>', latest)
    .where('not_before', '<', PAUSED_MS)
    .execute()
  await tx
    .updateTable('obstacles')
    .set({ since: sql`min(since, ${at})`, next_try_at: sql`min(next_try_at, ${at} + ${MAX_PAUSE_MS})` })
    .where('resets_at', 'is', null)
    .execute()
  await tx
    .updateTable('follow_ups')
    .set({ due_at: sql`${at} + due_at - created_at`, created_at: at })
    .where('state', '=', 'planned')
    .where('relative', '=', 1)
    .where('created_at', '>', at)
    .execute()
}
