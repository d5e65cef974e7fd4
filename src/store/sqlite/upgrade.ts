/**
 * Upgrades of the database, and the way back. Before migrations a copy is made (copies.ts); an older Reprise that meets a
 * migrated database leaves it alone and names the copy.
 *
 * Going back puts a copy in the place of the database, in steps that can be interrupted anywhere: the database is copied
 * itself, so that nothing is lost; its log is written into it, so that the one file is all of it; the older copy is
 * written beside it, and renamed. Before the rename the newer database is in use, afterwards the older one.
 */
import { chmodSync, copyFileSync, existsSync, constants as fs, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RepriseError } from '../../contract/errors.ts'
import { MIGRATIONS } from '../base/migrations/run.ts'
import { type CopyInput, copyDatabase, findCopyFor, flush, requireRoom } from './copies.ts'

export interface UpgradeOptions {
  /** The folder of the copies. */
  folder: string
  /** The version of this Reprise. */
  version: string
  /** Called before something that may take long. */
  onWork?: ((what: string) => void) | undefined
  /** Called with the path of the copy that was made before migrations. */
  onCopy?: (path: string) => void
}

/** The fact that says which Reprise opened the database last. */
export const VERSION_FACT = 'version'

/** The fact that names, separated by spaces, open runs that settled after a restored database was copied. */
export const SETTLED_SINCE_FACT = 'settled-since'

const BUSY_TIMEOUT_MS = 5000

const newestSchema = () => Math.max(...MIGRATIONS.map(({ number }) => number))

/** Makes a copy of a database that has data and is about to be migrated. */
export async function copyBeforeMigration(
  database: DatabaseSync,
  now: Date,
  options: UpgradeOptions,
): Promise<void> {
  const schema = migratedFrom(database)
  if (schema === null) return
  options.onWork?.('Copying the database before it is migrated …')
  const copy = await copyDatabase(database, inputFor(database, schema, now, options))
  options.onCopy?.(copy)
  options.onWork?.('Migrating the database …')
}

/** The schema from which a database with data would be migrated; null if it would not be. */
function migratedFrom(database: DatabaseSync): number | null {
  const applied = appliedTo(database)
  const schema = Math.max(0, ...applied)
  return schema > 0 && MIGRATIONS.some(({ number }) => !applied.has(number)) ? schema : null
}

/** Throws if this Reprise could not open the database. Returns whether it would migrate it. Nothing is changed. */
export async function checkUpgrade(path: string, options: UpgradeOptions): Promise<boolean> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    refuseNewer(database, options)
    const isMigrated = migratedFrom(database) !== null
    if (isMigrated) await requireRoom(database, options.folder)
    return isMigrated
  } finally {
    database.close()
  }
}

/** Throws if the database is of a newer Reprise, with the way to continue. Nothing is changed. */
export function refuseNewer(database: DatabaseSync, { folder, version }: UpgradeOptions): void {
  const schema = Math.max(0, ...appliedTo(database))
  const newest = newestSchema()
  if (schema <= newest) return
  const writer = versionOf(database)
  const copy = findCopyFor(folder, newest)
  const newer = writer === null ? 'a newer Reprise' : `Reprise ${writer}`
  const start = `Start ${writer === null ? 'the newer version' : newer}`
  throw new RepriseError(
    'database-newer',
    `${newer} has migrated the database to schema ${schema}; this is Reprise ${version}, which knows schemas up to ${newest}${copy ? `; the copy from before is ${copy.path}` : ''}`,
    {
      hint: copy
        ? `${start}, or go back to that copy of ${copy.madeAt.toISOString()} with: reprise up --restore-backup`
        : `${start}, or use another REPRISE_HOME.`,
      details: { schema, knownSchema: newest, version: writer, copy: copy?.path ?? null },
    },
  )
}

export interface Restored {
  /** The copy that is the database now. */
  from: string
  /** The copy of the database that was in its place. */
  kept: string
  /** Runs that the copy has as open, and that have settled since. They must not be done again; a fact names them. */
  settledSince: string[]
}

/** `file`: the copy to go back to; null: the newest that this Reprise can use. */
export type RestoreOptions = UpgradeOptions & { file: string | null }

/** Goes back to a copy. The home must be locked. */
export async function restoreCopy(
  path: string,
  { now, ...options }: RestoreOptions & { now: Date },
): Promise<Restored> {
  const current = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  let plan: RestorePlan
  let kept: string
  try {
    plan = planRestore(current, options)
    options.onWork?.('Copying the newer database before going back …')
    kept = await copyDatabase(current, inputFor(current, plan.schema, now, options))
    current.exec('pragma wal_checkpoint(truncate)')
  } finally {
    // The last connection removes the log.
    current.close()
  }
  putInPlace(plan, path)
  return { from: plan.from, kept, settledSince: plan.settledSince }
}

/** Throws if `restoreCopy` would refuse. Returns the copy that would be used. Nothing is changed. */
export async function checkRestore(path: string, options: RestoreOptions): Promise<string> {
  const current = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    const { from } = planRestore(current, options)
    await requireRoom(current, options.folder)
    return from
  } finally {
    current.close()
  }
}

interface RestorePlan {
  from: string
  /** The schema of the database that is replaced. */
  schema: number
  settledSince: string[]
}

function planRestore(current: DatabaseSync, { folder, file }: RestoreOptions): RestorePlan {
  const from = file ?? findCopyFor(folder, newestSchema())?.path
  if (from === undefined) {
    throw new RepriseError('not-found', `there is no copy of the database in ${folder}`, {
      hint: 'A copy is made when a newer Reprise migrates the database.',
    })
  }
  if (!existsSync(from)) throw new RepriseError('not-found', `${from} does not exist`)
  const schema = Math.max(0, ...appliedTo(current))
  if (file === null && schema <= newestSchema()) {
    throw new RepriseError('conflict', `the database is at schema ${schema}, which this Reprise knows`, {
      hint: `There is nothing to go back from. To go back nevertheless, name the copy: reprise up --restore-backup ${from}`,
    })
  }
  return { from, schema, settledSince: compareRuns(current, from) }
}

function putInPlace({ from, settledSince }: RestorePlan, path: string): void {
  if (existsSync(`${path}-wal`)) {
    throw new RepriseError('conflict', `another program is using ${path}`, { hint: 'End it first.' })
  }
  const beside = `${path}.restored`
  rmSync(beside, { force: true })
  copyFileSync(from, beside, fs.COPYFILE_EXCL | fs.COPYFILE_FICLONE)
  chmodSync(beside, 0o600)
  const database = new DatabaseSync(beside)
  database
    .prepare('insert or replace into facts (key, value) values (?, ?)')
    .run(SETTLED_SINCE_FACT, settledSince.join(' '))
  database.close()
  flush(beside)
  rmSync(`${path}-shm`, { force: true })
  renameSync(beside, path)
  flush(dirname(path))
}

/** Refuses to forget runs that are open and that the copy does not have. */
function compareRuns(current: DatabaseSync, from: string): string[] {
  const copy = new DatabaseSync(from, { readOnly: true })
  const settled = current.prepare("select id from runs where state = 'settled' and id = ?")
  try {
    const known = copy.prepare('select id from runs where id = ?')
    const open = idsOf(current, "select id from runs where state <> 'settled'")
    const forgotten = open.filter((id) => known.get(id) === undefined)
    if (forgotten.length > 0) {
      throw new RepriseError(
        'conflict',
        `going back would forget ${forgotten.length === 1 ? 'a run that is' : `${forgotten.length} runs that are`} open and newer than the copy: ${forgotten.slice(0, 5).join(', ')}`,
        { hint: 'Let them end, or cancel them, with the newer Reprise: reprise down --cancel' },
      )
    }
    return idsOf(copy, "select id from runs where state <> 'settled'").filter(
      (id) => settled.get(id) !== undefined,
    )
  } finally {
    copy.close()
  }
}

const idsOf = (database: DatabaseSync, query: string) =>
  database
    .prepare(query)
    .all()
    .map(({ id }) => String(id))

const inputFor = (
  database: DatabaseSync,
  schema: number,
  now: Date,
  { folder }: UpgradeOptions,
): CopyInput => ({ folder, version: versionOf(database), schema, now })

function appliedTo(database: DatabaseSync): Set<number> {
  if (!hasTable(database, 'reprise_migrations')) return new Set()
  const rows = database.prepare('select number from reprise_migrations').all()
  return new Set(rows.map(({ number }) => Number(number)))
}

function versionOf(database: DatabaseSync): string | null {
  if (!hasTable(database, 'facts')) return null
  const row = database.prepare('select value from facts where key = ?').get(VERSION_FACT)
  return row === undefined ? null : String(row.value)
}

const hasTable = (database: DatabaseSync, name: string) =>
  database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined
