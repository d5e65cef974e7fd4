/**
 * Opens the SQLite database with two connections: one writes, in group commits; one reads, and sees only what is
 * committed. WAL with synchronous=FULL: a commit that was reported survives a power cut, except for what
 * can be read again (base/writer.ts). Overwritten and deleted data
 * is really removed from the file, because it may have been a secret.
 */
import { chmodSync, closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import { createIdsAfter, MachineId } from '../../contract/ids.ts'
import { migrate } from '../base/migrations/run.ts'
import type { Tables } from '../base/schema.ts'
import { listNewestIds } from '../newest-ids.ts'
import { createStore, type Store, type StoreOptions } from '../store.ts'
import { createChangeTriggers } from './change-triggers.ts'
import { nodeSqliteDialect } from './driver.ts'
import { convertIfSmall, createShrink, prepareIfNew } from './shrink.ts'
import { copyBeforeMigration, refuseNewer, type UpgradeOptions, VERSION_FACT } from './upgrade.ts'

const COMMIT_WINDOW_MS = 15
const BUSY_TIMEOUT_MS = 5000

const FLUSH = 'pragma synchronous = full;'
/** Commits are written, and flushed to disk with the next one that is. */
const NO_FLUSH = 'pragma synchronous = normal;'

/** busy_timeout comes first, because the other pragmas may have to wait for a lock too. */
export const PRAGMAS = `
  pragma busy_timeout = ${BUSY_TIMEOUT_MS};
  pragma journal_mode = wal;
  ${FLUSH}
  pragma foreign_keys = on;
  pragma cache_size = -8000;
  pragma secure_delete = on;
`

export interface OpenOptions extends Partial<Omit<StoreOptions, 'windowMs' | 'createShrink'>> {
  commitWindowMs?: number
  /** Without it, no copy is made before migrations. */
  upgrade?: UpgradeOptions
}

export async function openSqliteStore(
  path: string,
  now: Date,
  { commitWindowMs = COMMIT_WINDOW_MS, upgrade, ...options }: OpenOptions = {},
): Promise<Store> {
  const opened: DatabaseSync[] = []
  const connect = () => {
    // The timeout holds from the first statement on: even reading may have to wait for a lock.
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    // The file contains prompts and output, so only its user may read it.
    chmodSync(path, 0o600)
    opened.push(database)
    prepareIfNew(database)
    database.exec(PRAGMAS)
    return new Kysely<Tables>({ dialect: nodeSqliteDialect(database) })
  }
  // Kysely closes neither a connection that was never used, nor those of a store that could not be created.
  const disconnect = () => {
    for (const database of opened) if (database.isOpen) database.close()
  }
  try {
    const writer = connect()
    const [first] = opened as [DatabaseSync]
    if (upgrade) refuseNewer(first, upgrade)
    if (upgrade) await copyBeforeMigration(first, now, upgrade)
    await migrate(writer as unknown as Kysely<unknown>, now)
    if (upgrade) await noteVersion(writer, upgrade.version)
    for (const database of opened) convertIfSmall(database)
    for (const id of await listNewestIds(writer)) createIdsAfter(id)
    for (const database of opened) createChangeTriggers(database)
    const machineId = await claimMachineId(writer, now)
    const store = createStore(
      { writer, reader: connect(), setFlush: (flush) => opened[0]?.exec(flush ? FLUSH : NO_FLUSH) },
      {
        windowMs: commitWindowMs,
        now: () => now,
        machineId,
        createShrink: (access) => createShrink(opened[0] as DatabaseSync, access),
        ...options,
      },
    )
    return { ...store, close: () => store.close().finally(disconnect) }
  } catch (cause) {
    // Looked at before the connections are closed, which gives descriptors back.
    const lack = findLackOfDescriptors()
    disconnect()
    if (cause instanceof RepriseError) throw cause
    throw new RepriseError(
      'database-unusable',
      `cannot use the database ${path}: ${lack ?? (cause as Error).message}`,
      {
        hint:
          lack === null
            ? 'Check that the file is a Reprise database, that its folder is writable and that the disk is not full.'
            : 'Raise the limit on open files (ulimit -n) of whatever starts Reprise.',
        cause,
      },
    )
  }
}

/** Names the Reprise that opened the database last, for copies and for older ones. */
async function noteVersion(db: Kysely<Tables>, value: string): Promise<void> {
  await db
    .insertInto('facts')
    .values({ key: VERSION_FACT, value })
    .onConflict((oc) => oc.column('key').doUpdateSet({ value }).where('facts.value', '<>', value))
    .execute()
}

/**
 * The id of the machine that holds the processes recorded in this database. A file belongs to one home, and a home to
 * one machine, so the id is stored in the file: a copied or moved home keeps it, and finds its open processes.
 */
async function claimMachineId(db: Kysely<Tables>, now: Date): Promise<MachineId> {
  await db
    .insertInto('facts')
    .values({ key: 'machine', value: MachineId.create(now) })
    .onConflict((oc) => oc.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('facts')
    .select('value')
    .where('key', '=', 'machine')
    .executeTakeFirstOrThrow()
  return MachineId.schema.parse(value)
}

/** The files of one connection: the database, its log and the index of the log. */
const FILES = 3

/** SQLite does not say that a file cannot be opened for lack of descriptors. Returns that error; null if there are some. */
function findLackOfDescriptors(): string | null {
  const files: number[] = []
  try {
    for (let n = 0; n < FILES; n++) files.push(openSync('/dev/null', 'r'))
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE' ? `${code}: too many open files` : null
  } finally {
    for (const file of files) closeSync(file)
  }
}
