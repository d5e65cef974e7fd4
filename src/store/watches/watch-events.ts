/**
 * Events that are sent to a watch. The transaction that stores an event also decides what becomes of it, because many
 * may come at the same time: a burst of equal events counts as one.
 */

import type { WatchEvent } from '../../contract/cycle.ts'
import type { CycleId, WatchId } from '../../contract/ids.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tx } from '../base/transaction.ts'
import { listUnfinished } from './cycle-queries.ts'
import { addCycle, type NewCycle } from './cycles.ts'
import type { CycleRecord } from './records.ts'

export interface EventFacts {
  known: ReadonlyMap<string, { at: Date; resolvedAt: Date | null; cycleOpen: boolean; cycleId: CycleId }>
  open: CycleRecord | null
  /** A queued cycle that accepts more events. */
  queued: CycleRecord | null
  /** When cycles were created for events in the last hour. */
  recentStarts: readonly Date[]
}

export type EventDecision =
  | { kind: 'add'; cycle: NewCycle }
  | { kind: 'merge'; into: CycleRecord; events: readonly WatchEvent[] }
  | { kind: 'nothing' }

const HOUR_MS = 3_600_000

export async function receiveEvents<D extends EventDecision>(
  tx: Tx,
  watchId: WatchId,
  { firing, resolved }: { firing: readonly WatchEvent[]; resolved: readonly string[] },
  decide: (facts: EventFacts) => D,
  at: Date,
): Promise<{ decision: D; cycle: CycleRecord | null }> {
  await lockKey(tx, `watch ${watchId}`)
  await resolve(tx, watchId, resolved, at)
  const decision = decide(await readFacts(tx, watchId, firing, at))
  if (decision.kind === 'add') {
    const cycle = await addCycle(tx, decision.cycle)
    await note(tx, watchId, cycle.id, decision.cycle.events, at)
    return { decision, cycle }
  }
  if (decision.kind === 'merge') {
    const all = [...decision.into.events, ...decision.events]
    await tx
      .updateTable('cycles')
      .set({ events: JSON.stringify(all) })
      .where('id', '=', decision.into.id)
      .where('state', '=', 'queued')
      .execute()
    await note(tx, watchId, decision.into.id, decision.events, at)
    return { decision, cycle: { ...decision.into, events: all } }
  }
  return { decision, cycle: null }
}

async function readFacts(
  tx: Tx,
  watchId: WatchId,
  firing: readonly WatchEvent[],
  at: Date,
): Promise<EventFacts> {
  const unfinished = await listUnfinished(tx, watchId)
  const fingerprints = firing.map((event) => event.fingerprint)
  const rows =
    fingerprints.length === 0
      ? []
      : await tx
          .selectFrom('watch_events')
          .selectAll()
          .where('watch_id', '=', watchId)
          .where('fingerprint', 'in', fingerprints)
          .execute()
  const starts = await tx
    .selectFrom('cycles')
    .select('due_at')
    .where('watch_id', '=', watchId)
    .where('trigger', '=', 'event')
    // A skipped one was not started: its events were read by an agent that was at work already.
    .where('state', '<>', 'skipped')
    .where('due_at', '>', at.getTime() - HOUR_MS)
    .execute()
  return {
    known: new Map(
      rows.map((row) => [
        row.fingerprint,
        {
          at: new Date(Number(row.at)),
          resolvedAt: row.resolved_at === null ? null : new Date(Number(row.resolved_at)),
          cycleOpen: unfinished.some((cycle) => cycle.id === row.cycle_id),
          cycleId: row.cycle_id,
        },
      ]),
    ),
    open: unfinished.find((cycle) => cycle.state === 'open') ?? null,
    queued: unfinished.find((cycle) => cycle.state === 'queued' && cycle.trigger === 'event') ?? null,
    recentStarts: starts.map((row) => new Date(Number(row.due_at))),
  }
}

async function note(
  tx: Tx,
  watchId: WatchId,
  cycleId: CycleId,
  events: readonly WatchEvent[],
  at: Date,
): Promise<void> {
  for (const fingerprint of new Set(events.map((event) => event.fingerprint))) {
    const fresh = { cycle_id: cycleId, at: at.getTime(), resolved_at: null }
    await tx
      .insertInto('watch_events')
      .values({ watch_id: watchId, fingerprint, ...fresh })
      .onConflict((oc) => oc.columns(['watch_id', 'fingerprint']).doUpdateSet(fresh))
      .execute()
  }
}

async function resolve(tx: Tx, watchId: WatchId, fingerprints: readonly string[], at: Date): Promise<void> {
  if (fingerprints.length === 0) return
  await tx
    .updateTable('watch_events')
    .set({ resolved_at: at.getTime() })
    .where('watch_id', '=', watchId)
    .where('fingerprint', 'in', fingerprints)
    .execute()
}

export async function forgetEvents(tx: Tx, before: Date): Promise<void> {
  await tx.deleteFrom('watch_events').where('at', '<', before.getTime()).execute()
}
