/**
 * Runs that wait behind an obstacle. A waiting run is a queued run with a time before which it does not start, a
 * reason, and the key of its obstacle. It needs no process in memory and checks again when its time has come, so a
 * daemon that dies loses nothing, and a lost release costs only time.
 */
import type { RunId } from '../../contract/ids.ts'
import type { ObstacleWithProbe } from '../../core/obstacle/obstacle.ts'
import { type Passage, spreadStarts } from '../../core/obstacle/passage.ts'
import { sayObstacle } from '../../core/obstacle/words.ts'
import type { Tx } from '../base/transaction.ts'
import { appendEvents } from '../runs/events.ts'
import { PAUSED_MS } from '../runs/rows.ts'
import { announceChange, announceDelay, CHANGE_COLUMNS } from '../runs/run-changes.ts'
import { obstacleKey } from './rows.ts'

/** Makes all runs that wait behind the obstacle wait until then, so that not each of them has to check by itself. */
export async function postponeWaiting(
  tx: Tx,
  obstacle: ObstacleWithProbe,
  until: Date,
  now: Date,
): Promise<void> {
  const waiting = tx
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'queued')
    .where('held_by', '=', obstacleKey(obstacle))
    .where('not_before', '<', until.getTime())
    .where('id', '<>', (obstacle.probe ?? '') as RunId)
  const inCycles = await waiting.select('not_before').where('cycle_id', 'is not', null).execute()
  for (const { id, not_before: before } of inCycles) {
    const from = Math.max(Number(before), now.getTime())
    if (until.getTime() > from) await announceDelay(tx, id, until.getTime() - from)
  }
  await tx
    .updateTable('runs')
    .set({
      not_before: until.getTime(),
      wait_ms: until.getTime() - now.getTime(),
      message: sayObstacle(obstacle, now),
    })
    .where('id', 'in', waiting)
    .execute()
}

export async function holdRun(
  tx: Tx,
  id: RunId,
  { behind, until, why }: Extract<Passage, { kind: 'wait' }>,
  now: Date,
): Promise<void> {
  const key = obstacleKey(behind)
  const before = await tx.selectFrom('runs').select('held_by').where('id', '=', id).executeTakeFirst()
  const row = await tx
    .updateTable('runs')
    .set({
      not_before: until.getTime(),
      wait_ms: until.getTime() - now.getTime(),
      message: why,
      held_by: key,
    })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .returning(CHANGE_COLUMNS)
    .executeTakeFirst()
  if (!row) return
  await announceChange(tx, row, now)
  await announceDelay(tx, id, until.getTime() - now.getTime())
  // The note is added once, because the expected end may change often.
  if (before?.held_by !== key)
    await appendEvents(tx, id, null, [{ type: 'note', text: `waiting: ${why}` }], now)
}

/** Queued runs that wait behind an obstacle, including paused ones, in the order in which they are released. */
export async function listHeld(tx: Tx) {
  const rows = await tx
    .selectFrom('runs')
    .select(['id', 'agent', 'model', 'not_before', 'held_by'])
    .where('state', '=', 'queued')
    .where('held_by', 'is not', null)
    .orderBy('priority', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, held_by: row.held_by ?? '' }))
}

export async function releaseRuns(
  tx: Tx,
  runs: readonly { id: RunId; not_before: number | null }[],
  why: string,
  now: Date,
): Promise<RunId[]> {
  for (const [index, at] of spreadStarts(runs.length, now).entries()) {
    const run = runs[index]
    if (run) await releaseRun(tx, run, at, now, why)
  }
  return runs.map(({ id }) => id)
}

async function releaseRun(
  tx: Tx,
  { id, not_before: before }: { id: RunId; not_before: number | null },
  at: Date,
  now: Date,
  why: string,
): Promise<void> {
  const notBefore = Math.min(at.getTime(), before === null ? at.getTime() : Number(before))
  const row = await tx
    .updateTable('runs')
    .set({
      not_before: notBefore,
      wait_ms: Math.max(0, notBefore - now.getTime()),
      message: why,
      held_by: null,
    })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('held_by', 'is not', null)
    .returning(CHANGE_COLUMNS)
    .executeTakeFirst()
  if (!row) return
  await announceChange(tx, row, now)
  if (before === null) return
  // Takes back the extra time that its cycle was given for a longer wait.
  await announceDelay(tx, id, notBefore - Number(before))
  if (Number(before) < PAUSED_MS) return
  await appendEvents(tx, id, null, [{ type: 'note', text: `no longer paused: ${why}` }], now)
}
