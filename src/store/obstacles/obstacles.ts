/**
 * Obstacles (see core/obstacle): open limits and outages, and which run probes whether one is over. The runs that wait
 * behind them are in held-runs.ts.
 */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import {
  type Met,
  meet,
  type Obstacle,
  type ObstacleWithProbe,
  type Pauses,
} from '../../core/obstacle/obstacle.ts'
import { decidePassage, lookAgainAt, type Passage } from '../../core/obstacle/passage.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tables } from '../base/schema.ts'
import type { RunListener, Tx } from '../base/transaction.ts'
import { holdRun, listHeld, postponeWaiting, releaseRuns } from './held-runs.ts'
import { accountOf, isNotPaused, modelOf, obstacleKey, toObstacle } from './rows.ts'
import type { ObstaclesTable } from './schema.ts'

const LISTED = 50
/** What a run uses. It waits behind obstacles of the whole account and of its model. */
export interface Access {
  account: string
  model: string
}

export interface OpenObstacle extends ObstacleWithProbe {
  /** Queued runs that are not paused, in the order in which they will be released; only the first ones if there are many. */
  waiting: RunId[]
  waitingCount: number
}

/** A run that was chosen to probe must have started within this time; after that another run probes. */
const CLAIM_MS = 30_000

/** How long an obstacle that no run waits behind is kept after its next try. */
const FORGET_AFTER_MS = 86_400_000

const ANSWERS_AGAIN = 'the model answers again; queued to start'

/** An attempt has met the obstacle: opens it, or postpones its next try. */
export async function meetObstacle(
  tx: Tx,
  met: Met,
  attempt: Access & { id: string; runId: RunId; startedAt: Date },
  pauses: Pauses,
  at: Date,
): Promise<Obstacle> {
  await lockKey(tx, `obstacles ${attempt.account}`)
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

/**
 * Lets a queued run start as the only one that probes, or makes it wait. If the result is to give up, the caller does
 * that.
 */
export async function passObstacles(
  tx: Tx,
  run: { id: RunId; createdAt: Date },
  { account, model }: Access,
  limitMs: number,
  now: Date,
): Promise<Passage> {
  const open = () =>
    tx
      .selectFrom('obstacles')
      .selectAll()
      .where('account', '=', account)
      .where('model', 'in', ['', model])
      .execute()
  if ((await open()).length === 0) return { kind: 'go', tries: [] }
  await lockKey(tx, `obstacles ${account}`)
  const rows = await open()
  const inTheWay: ObstacleWithProbe[] = []
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

/** The run that probes at present; null: none. */
export async function liveProbe(db: Kysely<Tables>, row: ObstaclesTable, now: Date): Promise<RunId | null> {
  const { probe_run_id: id, probe_since: since } = row
  if (id === null) return null
  const run = await db.selectFrom('runs').select('state').where('id', '=', id).executeTakeFirst()
  const claimed = run?.state === 'queued' && now.getTime() - Number(since) < CLAIM_MS
  return run?.state === 'running' || claimed ? id : null
}

/**
 * The model has answered a request that was made at `calledAt`: obstacles from before that are closed, and the runs
 * that waited behind them may start one after the other, including paused ones. Returns those runs.
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

/**
 * The agents may have other credentials than before: releases runs that wait behind an obstacle of another account than
 * their own, and deletes obstacles that no run has waited behind for a long time.
 */
export async function tidyObstacles(
  tx: Tx,
  ownAccountOf: (run: { agent: string; model: string | null }) => string | null,
  now: Date,
): Promise<RunId[]> {
  const held = await listHeld(tx)
  const stale = held.filter((run) => ownAccountOf(run) !== accountOf(run.held_by))
  const released = await releaseRuns(tx, stale, 'other credentials are configured; queued to start', now)
  const needed = held.filter((run) => !stale.includes(run)).map((run) => run.held_by)
  const old = await tx
    .selectFrom('obstacles')
    .select(['account', 'model'])
    .where('next_try_at', '<', now.getTime() - FORGET_AFTER_MS)
    .execute()
  for (const { account, model } of old.filter((row) => !needed.includes(obstacleKey(row)))) {
    await tx
      .deleteFrom('obstacles')
      .where('account', '=', account)
      .where('model', '=', model)
      .where('next_try_at', '<', now.getTime() - FORGET_AFTER_MS)
      .execute()
  }
  return released
}

/** A person wants a try now. */
async function tryNow(tx: Tx, key: string, at: Date): Promise<void> {
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
      .where(isNotPaused)
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

export const obstacleListener: RunListener = {
  hastened: tryNow,
  whyReleased: async (tx, heldBy) => {
    const open = await tx
      .selectFrom('obstacles')
      .select('kind')
      .where('account', '=', accountOf(heldBy))
      .where('model', '=', modelOf(heldBy))
      .executeTakeFirst()
    return open ? null : ANSWERS_AGAIN
  },
}
