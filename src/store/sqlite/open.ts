/**
 * Opens the SQLite database. Two connections: one writes, in group commits; one reads, and sees only what is
 * committed. WAL with synchronous=FULL: a commit that was reported survives a power cut.
 */
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import { migrate } from '../migrations/run.ts'
import type { Tables } from '../schema.ts'
import { createStore, type Store } from '../store.ts'
import { nodeSqliteDialect } from './driver.ts'

const COMMIT_WINDOW_MS = 15
const BUSY_TIMEOUT_MS = 5000

export async function openSqliteStore(path: string, now: Date): Promise<Store> {
  try {
    const writer = connect(path)
    await migrate(writer as unknown as Kysely<unknown>, now)
    return createStore({ writer, reader: connect(path) }, COMMIT_WINDOW_MS)
  } catch (cause) {
    if (cause instanceof RepriseError) throw cause
    throw new RepriseError(
      'database-unusable',
      `cannot use the database ${path}: ${(cause as Error).message}`,
      {
        hint: 'Check that the file is a Reprise database, that its folder is writable and that the disk is not full.',
        cause,
      },
    )
  }
}

function connect(path: string): Kysely<Tables> {
  const database = new DatabaseSync(path)
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma busy_timeout = ${BUSY_TIMEOUT_MS};
    pragma foreign_keys = on;
    pragma cache_size = -8000;
  `)
  return new Kysely<Tables>({ dialect: nodeSqliteDialect(database) })
}
