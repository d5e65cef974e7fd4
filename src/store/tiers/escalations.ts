/** What followed from runs at tiers, and the chains they form. */
import { type Kysely, sql } from 'kysely'
import type { EscalationReason, Recommendation } from '../../contract/escalation.ts'
import type { RunId } from '../../contract/ids.ts'
import { enqueueNotifications } from '../base/outbox.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { RunRecord } from '../runs/records.ts'
import { toRun } from '../runs/rows.ts'
import { announceDelay } from '../runs/run-changes.ts'
import type { EscalationRecord, TierEnding } from './records.ts'
import type { EscalationsTable } from './schema.ts'

/** Called in the transaction that settles the run, so it happens once. */
export async function addEscalation(tx: Tx, ending: TierEnding): Promise<void> {
  const { escalation, next, notices } = (await isCancelled(tx, ending)) ? nothingFollows(ending) : ending
  await tx
    .insertInto('escalations')
    .values({
      run_id: escalation.runId,
      tier: escalation.tier,
      decision: escalation.decision,
      reason: escalation.reason,
      message: escalation.message,
      to_tier: escalation.toTier,
      next_run_id: next?.id ?? null,
      recommendation: JSON.stringify(escalation.recommendation),
      decided_by: escalation.decidedBy,
      decided_at: escalation.decidedAt.getTime(),
      expires_at: escalation.expiresAt?.getTime() ?? null,
    })
    .execute()
  if (next) await admitRun(tx, next)
  await enqueueNotifications(tx, notices, escalation.decidedAt)
}

/** The run may have been cancelled after the decision about what follows. */
async function isCancelled(tx: Tx, { escalation }: TierEnding): Promise<boolean> {
  if (escalation.decision === 'stop') return false
  const row = await tx
    .selectFrom('runs')
    .select('cancel_requested_at')
    .where('id', '=', escalation.runId)
    .executeTakeFirst()
  return row?.cancel_requested_at != null
}

function nothingFollows({ escalation }: TierEnding): TierEnding {
  const stopped = { decision: 'stop', reason: 'cancelled', message: 'cancelled' } as const
  return { escalation: { ...escalation, ...stopped, toTier: null, expiresAt: null }, next: null, notices: [] }
}

export interface Answer {
  decision: 'escalate' | 'stop'
  reason: EscalationReason
  message: string
  decidedBy: 'person' | 'timeout'
  at: Date
}

/** Decides an escalation that waits, and extends its cycle's deadline by the wait. null: it does not wait any more. */
export async function answerEscalation(
  tx: Tx,
  runId: RunId,
  { decision, reason, message, decidedBy, at }: Answer,
  { next, notices }: Pick<TierEnding, 'next' | 'notices'>,
): Promise<EscalationRecord | null> {
  const waiting = await getEscalation(tx, runId)
  if (waiting?.decision !== 'ask') return null
  const row = await tx
    .updateTable('escalations')
    .set({
      decision,
      reason,
      message,
      decided_by: decidedBy,
      decided_at: at.getTime(),
      next_run_id: next?.id ?? null,
    })
    .where('run_id', '=', runId)
    .where('decision', '=', 'ask')
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await announceDelay(tx, runId, at.getTime() - waiting.decidedAt.getTime())
  if (next) await admitRun(tx, next)
  await enqueueNotifications(tx, notices, at)
  return toEscalation(row)
}

export async function getEscalation(db: Kysely<Tables>, runId: RunId): Promise<EscalationRecord | null> {
  const row = await db.selectFrom('escalations').selectAll().where('run_id', '=', runId).executeTakeFirst()
  return row ? toEscalation(row) : null
}

export async function listEscalations(
  db: Kysely<Tables>,
  runIds: readonly RunId[],
): Promise<EscalationRecord[]> {
  if (runIds.length === 0) return []
  const rows = await db.selectFrom('escalations').selectAll().where('run_id', 'in', runIds).execute()
  return rows.map(toEscalation)
}

/** Escalations that wait for a person, those expiring first come first. */
export async function listWaiting(db: Kysely<Tables>, limit: number): Promise<EscalationRecord[]> {
  const rows = await db
    .selectFrom('escalations')
    .selectAll()
    .where('decision', '=', sql.lit('ask'))
    .orderBy('expires_at')
    .orderBy('run_id')
    .limit(limit)
    .execute()
  return rows.map(toEscalation)
}

/** A safety limit; no real chain of tiers is longer. */
const MAX_CHAIN = 1000

/** All runs linked to this one: up to the root, then down from there, in the order of their ids. */
export async function listChain(db: Kysely<Tables>, id: RunId): Promise<RunRecord[]> {
  const ids = await db
    .withRecursive('up', (q) =>
      q
        .selectFrom('runs')
        .select(['runs.id', 'runs.parent_run_id'])
        .where('runs.id', '=', id)
        .union(
          q
            .selectFrom('runs')
            .innerJoin('up', 'up.parent_run_id', 'runs.id')
            .select(['runs.id', 'runs.parent_run_id']),
        ),
    )
    .withRecursive('down', (q) =>
      q
        .selectFrom('up')
        .select('up.id')
        .where('up.parent_run_id', 'is', null)
        .union(q.selectFrom('runs').innerJoin('down', 'down.id', 'runs.parent_run_id').select('runs.id')),
    )
    .selectFrom('down')
    .select('down.id')
    .limit(MAX_CHAIN)
    .execute()
  if (ids.length === 0) return []
  // A separate query: joined and ordered in one, SQLite would scan all runs.
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where(
      'id',
      'in',
      ids.map((row) => row.id),
    )
    .execute()
  return rows.map(toRun).sort((x, y) => (x.id < y.id ? -1 : 1))
}

function toEscalation(row: EscalationsTable): EscalationRecord {
  return {
    runId: row.run_id,
    tier: row.tier,
    decision: row.decision,
    reason: row.reason as EscalationReason,
    message: row.message,
    toTier: row.to_tier,
    nextRunId: row.next_run_id,
    recommendation: JSON.parse(row.recommendation) as Recommendation,
    decidedBy: row.decided_by,
    decidedAt: new Date(Number(row.decided_at)),
    expiresAt: row.expires_at === null ? null : new Date(Number(row.expires_at)),
  }
}
