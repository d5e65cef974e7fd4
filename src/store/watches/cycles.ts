import type { CycleOutcome, Trigger, WatchEvent } from '../../contract/cycle.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { CycleId, WatchId } from '../../contract/ids.ts'
import { claimKey, type RequestKey } from '../base/request-keys.ts'
import type { Tx } from '../base/transaction.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun } from '../runs/records.ts'
import { announcePlansEnded } from '../runs/run-changes.ts'
import { getCycle, listUnfinished } from './cycle-queries.ts'
import type { CycleRecord } from './records.ts'
import { toCycle } from './rows.ts'
import type { CyclesTable } from './schema.ts'

export interface NewCycle {
  id: CycleId
  watchId: WatchId
  trigger: Trigger
  reason: string | null
  events: WatchEvent[]
  dueAt: Date
  /** The reason to skip the cycle if another is open or queued; null: queue it. */
  skip: string | null
}

/** Adds a cycle that was requested, at most once per key. */
export async function addWantedCycle(tx: Tx, cycle: NewCycle, key: RequestKey | null): Promise<CycleRecord> {
  const made = key && (await claimKey(tx, 'plan', key, cycle.id))
  const known = made === null ? null : await getCycle(tx, made as CycleId)
  if (known) return known
  return addCycle(tx, cycle)
}

export async function addCycle(tx: Tx, cycle: NewCycle): Promise<CycleRecord> {
  // The update comes first, so that two cycles of one watch are decided one after the other.
  const watch = await tx
    .updateTable('watches')
    .set((eb) => ({ cycles: eb('cycles', '+', 1) }))
    .where('id', '=', cycle.watchId)
    .where('removed_at', 'is', null)
    .returning('cycles')
    .executeTakeFirst()
  if (!watch) throw new RepriseError('not-found', `watch ${cycle.watchId} was removed`)
  const before = await listUnfinished(tx, cycle.watchId)
  const skipped = cycle.skip !== null && before.length > 0
  const waits = before.some((c) => c.state === 'queued' && isScheduled(c))
  const message = skipped
    ? cycle.skip
    : waits && isScheduled(cycle)
      ? 'another cycle is queued already'
      : null
  const row = await tx
    .insertInto('cycles')
    .values({
      id: cycle.id,
      watch_id: cycle.watchId,
      number: watch.cycles,
      state: message === null ? 'queued' : 'skipped',
      trigger: cycle.trigger,
      reason: cycle.reason,
      message,
      events: JSON.stringify(cycle.events),
      due_at: cycle.dueAt.getTime(),
      ended_at: message === null ? null : cycle.dueAt.getTime(),
    } as CyclesTable)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toCycle(row)
}

/** The schedule made it, in time or late. */
const isScheduled = ({ trigger }: Pick<NewCycle, 'trigger'>) =>
  trigger === 'schedule' || trigger === 'catch-up'

export interface CycleStart {
  id: CycleId
  run: NewRun
  prompt: string
  /** The events that the prompt contains. */
  events: readonly WatchEvent[]
  renewed: string | null
  deadlineAt: Date
}

/** null: the cycle is not queued any more, got more events meanwhile, or another one of its watch is open. */
export async function startCycle(tx: Tx, start: CycleStart, at: Date): Promise<CycleRecord | null> {
  const row = await tx
    .updateTable('cycles')
    .set({
      state: 'open',
      root_run_id: start.run.id,
      prompt: start.prompt,
      renewed: start.renewed,
      started_at: at.getTime(),
      deadline_at: start.deadlineAt.getTime(),
    })
    .where('id', '=', start.id)
    .where('state', '=', 'queued')
    .where('events', '=', JSON.stringify(start.events))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('cycles as o')
            .select('o.id')
            .whereRef('o.watch_id', '=', 'cycles.watch_id')
            .where('o.state', '=', 'open'),
        ),
      ),
    )
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await admitRun(tx, { ...start.run, cycleId: start.id })
  return toCycle(row)
}

/** Decides the outcome before the cycle ends: its deadline has passed, or it was cancelled. */
export async function concludeCycle(
  tx: Tx,
  id: CycleId,
  outcome: CycleOutcome,
  message: string,
  at: Date,
): Promise<CycleRecord | null> {
  const row = await tx
    .updateTable('cycles')
    .set({ outcome, message })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('outcome', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  const end =
    outcome === 'cancelled'
      ? ({ state: 'cancelled', by: 'person', message } as const)
      : ({ state: 'missed', by: null, message } as const)
  if (row.root_run_id) await announcePlansEnded(tx, { rootRunId: row.root_run_id }, end, at)
  return toCycle(row)
}

/** Cancels the queued cycles of a removed watch. */
export async function dropQueued(tx: Tx, watchId: WatchId, at: Date): Promise<void> {
  await tx
    .updateTable('cycles')
    .set({ state: 'ended', outcome: 'cancelled', message: 'the watch was removed', ended_at: at.getTime() })
    .where('watch_id', '=', watchId)
    .where('state', '=', 'queued')
    .execute()
}
