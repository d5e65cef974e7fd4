/**
 * Obstacles (see core/obstacle): limits and outages that are open, and which run tries whether one is over. The runs that
 * wait behind them are in held-runs.ts.
 */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import { type InTheWay, type Met, meet, type Obstacle, type Pauses } from '../../core/obstacle/obstacle.ts'
import { decidePassage, lookAgainAt, type Passage } from '../../core/obstacle/passage.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tables } from '../base/schema.ts'
import type { RunListener, Tx } from '../base/transaction.ts'
import { holdRun, listHeld, postponeWaiting, releaseRuns } from './held-runs.ts'
import { accountOf, modelOf, obstacleKey, toObstacle } from './rows.ts'
import type { ObstaclesTable } from './schema.ts'

const LISTED = 50
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

/** How long after its next try an obstacle is kept that no run waits behind. */
const FORGET_AFTER_MS = 86_400_000

const ANSWERS_AGAIN = 'the model answers again; starts in its turn'

/** An attempt has met it: opened, or put off. */
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

/** Lets a queued run start, alone, or makes it wait. What it is to give up is left to the caller. */
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
    await tx
      .deleteFrom('obstacles')
      .where('account', '=', account)
      .where('model', '=', model)
      .where('next_try_at', '<', now.getTime() - FORGET_AFTER_MS)
      .execute()
  }
  return released
}

/** A person wants it tried now. */
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
