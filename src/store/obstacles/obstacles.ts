/**
 * Obstacles (see core/obstacle) and the runs that wait behind them. A waiting run is a queued run with a time before
 * which it does not start, a reason, and the key of its obstacle; it needs nobody in memory, and looks again by itself
 * when its time has come. So a daemon that dies loses nothing, and a release that is lost costs only time.
 */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import { type InTheWay, type Met, meet, type Obstacle, type Pauses } from '../../core/obstacle/obstacle.ts'
import { decidePassage, lookAgainAt, type Passage, spreadStarts } from '../../core/obstacle/passage.ts'
import { sayObstacle } from '../../core/obstacle/words.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import { followRun } from '../jobs/job-state.ts'
import { enqueueNotifications } from '../notify/notifications.ts'
import type { AttemptEnding } from '../runs/attempt-records.ts'
import { appendEvents } from '../runs/events.ts'
import { PAUSED_MS } from '../runs/rows.ts'
import { extendDeadlineOf } from '../watches/cycle-deadlines.ts'
import type { ObstaclesTable } from './schema.ts'

/** What a run uses: it waits behind obstacles of the whole account, and of its model. */
export interface Access {
  account: string
  model: string
}

export interface OpenObstacle extends InTheWay {
  /** Queued runs, in the order in which they will be let go; the first of them if there are many. */
  waiting: RunId[]
  waitingCount: number
}

/** From being chosen to having started, a run may take so long; after that another one tries. */
const CLAIM_MS = 30_000
const LISTED = 50
/** How long after its next try an obstacle is kept that no run waits behind. */
const FORGET_AFTER_MS = 86_400_000
const ANSWERS_AGAIN = 'the model answers again; starts in its turn'

export const obstacleKey = ({ account, model }: Pick<Obstacle, 'account' | 'model'>) =>
  `${account}/${model ?? ''}`
const accountOf = (key: string) => key.slice(0, key.indexOf('/'))
const modelOf = (key: string) => key.slice(key.indexOf('/') + 1)

/** An attempt has met it: opened, or put off. */
export async function meetObstacle(
  tx: Tx,
  met: Met,
  attempt: Access & { id: string; runId: RunId; startedAt: Date },
  pauses: Pauses,
  at: Date,
): Promise<Obstacle> {
  const model = met.scope === 'model' ? attempt.model : ''
  const row = await tx
    .selectFrom('obstacles')
    .selectAll()
    .where('account', '=', attempt.account)
    .where('model', '=', model)
    .executeTakeFirst()
  const next = meet(row ? toObstacle(row) : null, met, attempt, pauses, at)
  const probe = row && row.probe_run_id !== attempt.runId ? row : null
  const values: ObstaclesTable = {
    account: attempt.account,
    model,
    kind: next.kind,
    message: tx.redactor.text(next.message),
    since: next.since.getTime(),
    next_try_at: next.nextTryAt.getTime(),
    resets_at: next.resetsAt?.getTime() ?? null,
    failures: next.failures,
    last_failure_at: next.lastFailureAt.getTime(),
    last_attempt_id: next.lastAttemptId,
    probe_run_id: probe?.probe_run_id ?? null,
    probe_since: probe?.probe_since ?? null,
  }
  await tx
    .insertInto('obstacles')
    .values(values)
    .onConflict((oc) => oc.columns(['account', 'model']).doUpdateSet(values))
    .execute()
  await postponeWaiting(tx, { ...next, probe: null }, next.nextTryAt, at)
  return next
}

/** Those that wait behind it wait on, until then: told at once, so that not each of them has to look for itself. */
async function postponeWaiting(tx: Tx, obstacle: InTheWay, until: Date, now: Date): Promise<void> {
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
    if (until.getTime() > from) await extendDeadlineOf(tx, id, until.getTime() - from)
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

/** Lets a queued run start, alone, or makes it wait. What it is to give up is left to the caller. */
export async function passObstacles(
  tx: Tx,
  run: { id: RunId; createdAt: Date },
  { account, model }: Access,
  limitMs: number,
  now: Date,
): Promise<Passage> {
  const rows = await tx
    .selectFrom('obstacles')
    .selectAll()
    .where('account', '=', account)
    .where('model', 'in', ['', model])
    .execute()
  if (rows.length === 0) return { kind: 'go', tries: [] }
  const inTheWay: InTheWay[] = []
  for (const row of rows) inTheWay.push({ ...toObstacle(row), probe: await liveProbe(tx, row, now) })
  const asked = await tx.selectFrom('runs').select('continued').where('id', '=', run.id).executeTakeFirst()
  const passage = decidePassage(inTheWay, {
    runId: run.id,
    waitingSince: run.createdAt,
    continued: asked?.continued === 1,
    limitMs,
    now,
  })
  if (passage.kind === 'wait') await holdRun(tx, run.id, passage, now)
  if (passage.kind !== 'go') return passage
  for (const tried of passage.tries) {
    await tx
      .updateTable('obstacles')
      .set({ probe_run_id: run.id, probe_since: now.getTime() })
      .where('account', '=', account)
      .where('model', '=', tried.model ?? '')
      .execute()
    await postponeWaiting(tx, { ...tried, probe: run.id }, lookAgainAt(now), now)
  }
  return passage
}

async function liveProbe(db: Kysely<Tables>, row: ObstaclesTable, now: Date): Promise<RunId | null> {
  const { probe_run_id: id, probe_since: since } = row
  if (id === null) return null
  const run = await db.selectFrom('runs').select('state').where('id', '=', id).executeTakeFirst()
  const claimed = run?.state === 'queued' && now.getTime() - Number(since) < CLAIM_MS
  return run?.state === 'running' || claimed ? id : null
}

async function holdRun(
  tx: Tx,
  id: RunId,
  { behind, until, why }: Extract<Passage, { kind: 'wait' }>,
  now: Date,
): Promise<void> {
  const key = obstacleKey(behind)
  const before = await tx.selectFrom('runs').select('held_by').where('id', '=', id).executeTakeFirst()
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set({
      not_before: until.getTime(),
      wait_ms: until.getTime() - now.getTime(),
      message: why,
      held_by: key,
    })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await followRun(tx, id, now)
  await extendDeadlineOf(tx, id, until.getTime() - now.getTime())
  // Said once: how long it takes may change often.
  if (before?.held_by !== key)
    await appendEvents(tx, id, null, [{ type: 'note', text: `waits: ${why}` }], now)
}

/**
 * The model has answered a request that was made at `calledAt`: what was in the way before that is gone, and the runs that
 * waited behind it may start, one after the other, the paused ones too. Returns those runs.
 */
export async function closeObstacles(
  tx: Tx,
  { account, model }: Access,
  runId: RunId,
  calledAt: Date,
  now: Date,
): Promise<RunId[]> {
  const closed = await tx
    .deleteFrom('obstacles')
    .where('account', '=', account)
    .where('model', 'in', ['', model])
    .where((eb) => eb.or([eb('last_failure_at', '<', calledAt.getTime()), eb('probe_run_id', '=', runId)]))
    .returning(['account', 'model'])
    .execute()
  if (closed.length === 0) return []
  const keys = closed.map(obstacleKey)
  return releaseRuns(
    tx,
    (await listHeld(tx)).filter((run) => keys.includes(run.held_by)),
    ANSWERS_AGAIN,
    now,
  )
}

/** Queued runs that wait behind an obstacle, paused ones too, in the order in which they are let go. */
async function listHeld(tx: Tx) {
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

/**
 * The agents may be configured with other credentials than before: runs that wait behind an obstacle of another account
 * than their own go now. Obstacles that nobody has waited behind since long before now are forgotten.
 */
export async function tidyObstacles(
  tx: Tx,
  ownAccountOf: (run: { agent: string; model: string | null }) => string | null,
  now: Date,
): Promise<RunId[]> {
  const held = await listHeld(tx)
  const stale = held.filter((run) => ownAccountOf(run) !== accountOf(run.held_by))
  const released = await releaseRuns(tx, stale, 'other credentials are configured; starts in its turn', now)
  const needed = held.filter((run) => !stale.includes(run)).map((run) => run.held_by)
  const old = await tx
    .selectFrom('obstacles')
    .select(['account', 'model'])
    .where('next_try_at', '<', now.getTime() - FORGET_AFTER_MS)
    .execute()
  for (const { account, model } of old.filter((row) => !needed.includes(obstacleKey(row)))) {
    await tx.deleteFrom('obstacles').where('account', '=', account).where('model', '=', model).execute()
  }
  return released
}

async function releaseRuns(
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
  await tx
    .updateTable('runs')
    .set({
      not_before: notBefore,
      wait_ms: Math.max(0, notBefore - now.getTime()),
      message: why,
      held_by: null,
    })
    .where('id', '=', id)
    .execute()
  await followRun(tx, id, now)
  if (before === null) return
  // Time that was given to its cycle for a wait that was shorter.
  await extendDeadlineOf(tx, id, notBefore - Number(before))
  if (Number(before) < PAUSED_MS) return
  await appendEvents(tx, id, null, [{ type: 'note', text: `not paused any longer: ${why}` }], now)
}

/**
 * What follows for a run whose attempt ends, if the obstacle it was to wait behind has been closed since that was decided:
 * nobody would release the run any more, so it starts now.
 */
export async function unlessClosed(
  tx: Tx,
  next: AttemptEnding['next'],
  at: Date,
): Promise<AttemptEnding['next']> {
  if (next.kind === 'settle' || !next.heldBy) return next
  const row = await tx
    .selectFrom('obstacles')
    .select('kind')
    .where('account', '=', accountOf(next.heldBy))
    .where('model', '=', modelOf(next.heldBy))
    .executeTakeFirst()
  return row ? next : { kind: 'retry', notBefore: at, why: ANSWERS_AGAIN }
}

export interface Pause {
  behind: Pick<Obstacle, 'account' | 'model'>
  why: string
  /** Who is to be told. */
  notices: readonly PlannedNotification[]
}

/** A run that has waited too long is left to a person. False if it is not queued any more. */
export async function pauseRun(
  tx: Tx,
  id: RunId,
  { behind, why, notices }: Pause,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set({ not_before: PAUSED_MS, message: why, held_by: obstacleKey(behind) })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await extendDeadlineOf(tx, id, PAUSED_MS - at.getTime())
  await appendEvents(tx, id, null, [{ type: 'note', text: why }], at)
  await enqueueNotifications(tx, notices, at)
  return true
}

/** A person wants it tried now. */
export async function tryNow(tx: Tx, key: string, at: Date): Promise<void> {
  await tx
    .updateTable('obstacles')
    .set({ next_try_at: at.getTime() })
    .where('account', '=', accountOf(key))
    .where('model', '=', modelOf(key))
    .where('next_try_at', '>', at.getTime())
    .execute()
}

export async function listObstacles(db: Kysely<Tables>, now: Date): Promise<OpenObstacle[]> {
  const rows = await db.selectFrom('obstacles').selectAll().orderBy('since').execute()
  const open: OpenObstacle[] = []
  for (const row of rows) {
    const waiting = await db
      .selectFrom('runs')
      .select('id')
      .where('state', '=', 'queued')
      .where('held_by', '=', obstacleKey(row))
      .orderBy('priority', 'desc')
      .orderBy('id')
      .execute()
    open.push({
      ...toObstacle(row),
      probe: await liveProbe(db, row, now),
      waiting: waiting.slice(0, LISTED).map(({ id }) => id),
      waitingCount: waiting.length,
    })
  }
  return open
}

const toObstacle = (row: ObstaclesTable): Obstacle => ({
  kind: row.kind,
  account: row.account,
  model: row.model === '' ? null : row.model,
  message: row.message,
  since: new Date(Number(row.since)),
  nextTryAt: new Date(Number(row.next_try_at)),
  resetsAt: row.resets_at === null ? null : new Date(Number(row.resets_at)),
  failures: row.failures,
  lastFailureAt: new Date(Number(row.last_failure_at)),
  lastAttemptId: row.last_attempt_id,
})

/** The runs that were left to a person, newest first. */
export async function listPaused(db: Kysely<Tables>): Promise<RunId[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'queued')
    .where('not_before', '>=', PAUSED_MS)
    .orderBy('id', 'desc')
    .limit(LISTED)
    .execute()
  return rows.map(({ id }) => id)
}
