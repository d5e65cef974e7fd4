/**
 * Gives the space of deleted rows back to the file system. SQLite keeps it in the file unless the database is in the
 * incremental mode of auto_vacuum; then free pages can be cut off in small steps, each of which is a short transaction, so
 * that nobody has to wait for long.
 *
 * A new database has that mode from the start. An older one gets it by one VACUUM, which rewrites the whole file: when it
 * is opened, if it is small enough to take a second or two, otherwise when a person prunes. Nothing is lost if it fails,
 * for lack of space for instance; the file then stays as it is.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { DatabaseAccess, Shrink } from '../retention/shrink.ts'

const INCREMENTAL = 2
const STEP_PAGES = 250
/** Not worth a step: new rows will use them. */
const SPARE_PAGES = 250
const SMALL_BYTES = 256 * 2 ** 20

/** Has an effect on a database without tables, or with the next VACUUM. */
const AUTO_VACUUM = `pragma auto_vacuum = ${INCREMENTAL};`

/** To be called before anything else, because a database with anything in it has its mode already. */
export function prepareIfNew(database: DatabaseSync): void {
  if (read(database, 'page_count') === 0) database.exec(AUTO_VACUUM)
}

/** Rewrites a database from before the incremental mode, if that does not take long. */
export function convertIfSmall(database: DatabaseSync): void {
  if (isIncremental(database) || bytesOf(database) > SMALL_BYTES) return
  try {
    rewrite(database)
  } catch {
    // It is tried again when the database is opened the next time.
  }
}

export function createShrink(database: DatabaseSync, { write, alone }: DatabaseAccess): Shrink {
  return async ({ thorough, dryRun = false, signal }) => {
    const beforeBytes = bytesOf(database)
    if (dryRun) return { beforeBytes, afterBytes: beforeBytes }
    if (!isIncremental(database)) {
      if (thorough) await alone(() => rewrite(database))
      return { beforeBytes, afterBytes: bytesOf(database) }
    }
    const spare = thorough ? 0 : SPARE_PAGES
    while (read(database, 'freelist_count') > spare && !signal?.aborted)
      await write(async () => database.exec(`pragma incremental_vacuum(${STEP_PAGES})`))
    // Without this the file itself becomes shorter only at some later time.
    await alone(() => database.exec('pragma wal_checkpoint(truncate)'))
    return { beforeBytes, afterBytes: bytesOf(database) }
  }
}

function rewrite(database: DatabaseSync): void {
  database.exec(`${AUTO_VACUUM} vacuum; pragma wal_checkpoint(truncate);`)
}

const isIncremental = (database: DatabaseSync) => read(database, 'auto_vacuum') === INCREMENTAL

const bytesOf = (database: DatabaseSync) => read(database, 'page_count') * read(database, 'page_size')

function read(database: DatabaseSync, pragma: string): number {
  return Number(Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0])
}
