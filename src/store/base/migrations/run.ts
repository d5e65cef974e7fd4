/**
 * Numbered, additive migrations, applied in order at start, each in its own transaction. A database with a higher
 * number belongs to a newer Reprise: it is refused and left unchanged.
 */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../../contract/errors.ts'
import { base } from './0001-base.ts'
import { conversations } from './0002-conversations.ts'
import { jobs } from './0003-jobs.ts'
import { notifications } from './0004-notifications.ts'
import { totals } from './0005-totals.ts'
import { escalation } from './0006-escalation.ts'
import { actions } from './0007-actions.ts'
import { heldBack } from './0008-held-back.ts'
import { watches } from './0009-watches.ts'
import { requestKeys } from './0010-request-keys.ts'
import { obstacles } from './0012-obstacles.ts'
import { watchedTime } from './0014-watched-time.ts'
import { cacheUse } from './0015-cache-use.ts'
import { told } from './0016-told.ts'
import { editedTurns } from './0017-edited-turns.ts'
import { runtimes } from './0018-runtimes.ts'
import { outside } from './0019-outside.ts'
import { quarantine } from './0020-quarantine.ts'
import { budgets } from './0021-budgets.ts'
import { places } from './0028-places.ts'
import { givenPrompts } from './0032-given-prompts.ts'
import { continued } from './0033-continued.ts'
import { processes } from './0040-processes.ts'
import { oneKeyTable } from './0041-one-key-table.ts'
import { changes } from './0042-changes.ts'
import { interruptions } from './0043-interruptions.ts'
import { sandbox } from './0044-sandbox.ts'
import { actionCalls } from './0047-action-calls.ts'
import { sessionLifecycle } from './0050-session-lifecycle.ts'
import { queries } from './0051-queries.ts'
import { transfers } from './0052-transfers.ts'
import { kept } from './0053-kept.ts'
import { access } from './0056-access.ts'
import { ends } from './0057-ends.ts'
import { pastCosts } from './0062-past-costs.ts'
import { allowedCalls } from './0064-allowed-calls.ts'
import { trust } from './0066-trust.ts'
import { sealedSecrets } from './0070-sealed-secrets.ts'
import { keptProcesses } from './0072-kept-processes.ts'
import { runMessages } from './0073-run-messages.ts'
import { eventsTaken } from './0074-events-taken.ts'
import { attemptContext } from './0076-attempt-context.ts'

export interface Migration {
  number: number
  name: string
  up: (db: Kysely<unknown>) => Promise<void>
}

export const MIGRATIONS: readonly Migration[] = [
  base,
  conversations,
  jobs,
  notifications,
  totals,
  escalation,
  actions,
  heldBack,
  watches,
  requestKeys,
  obstacles,
  watchedTime,
  cacheUse,
  told,
  editedTurns,
  runtimes,
  outside,
  quarantine,
  budgets,
  places,
  givenPrompts,
  continued,
  processes,
  oneKeyTable,
  changes,
  interruptions,
  sandbox,
  actionCalls,
  sessionLifecycle,
  queries,
  transfers,
  kept,
  access,
  ends,
  pastCosts,
  allowedCalls,
  trust,
  sealedSecrets,
  keptProcesses,
  runMessages,
  eventsTaken,
  attemptContext,
]

interface MigrationsTable {
  reprise_migrations: { number: number; name: string; applied_at: number }
}

export async function migrate(db: Kysely<unknown>, now: Date, migrations = MIGRATIONS): Promise<void> {
  const tracked = db as Kysely<MigrationsTable>
  await tracked.schema
    .createTable('reprise_migrations')
    .ifNotExists()
    .addColumn('number', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute()
  const rows = await tracked.selectFrom('reprise_migrations').select('number').execute()
  const at = Math.max(0, ...rows.map((row) => Number(row.number)))
  const newest = migrations.at(-1)?.number ?? 0
  if (at > newest) {
    throw new RepriseError(
      'database-newer',
      `the database is at schema ${at}, this Reprise knows schemas up to ${newest}`,
      { hint: 'Start the newer version of Reprise that made it, or use another REPRISE_HOME.' },
    )
  }
  // Also those with a lower number than the newest: they may have been added later.
  const applied = new Set(rows.map((row) => Number(row.number)))
  for (const { number, name, up } of migrations.filter((m) => !applied.has(m.number))) {
    await tracked.transaction().execute(async (tx) => {
      await up(tx as unknown as Kysely<unknown>)
      await tx.insertInto('reprise_migrations').values({ number, name, applied_at: now.getTime() }).execute()
    })
  }
}
