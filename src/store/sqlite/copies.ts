/**
 * Copies of the database, made before something is done to it that an older Reprise cannot undo: before migrations, and
 * before another copy takes its place. They are in a folder of the home, private to the user, and named by the version
 * that wrote the database, its schema and the time: `reprise-0.1.0-schema-73-20260102T030405Z.db`.
 *
 * A copy is complete or not there: it is written under another name and renamed. Only the newest few are kept. The caller
 * has locked the home, so nobody else writes the database meanwhile.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { RepriseError } from '../../contract/errors.ts'
import { formatSize } from '../../contract/quantity.ts'

export interface DatabaseCopy {
  path: string
  /** The Reprise that wrote the database; null if it did not say. */
  version: string | null
  schema: number
  madeAt: Date
}

const KEPT = 3
const PAGES_A_STEP = 4096
/** Space that is left free beside a copy: the migrations need some, too. */
const SPARE_BYTES = 64 * 2 ** 20
const UNKNOWN = 'unknown'
const UNFINISHED = '.new'
/** Also the files that SQLite keeps beside an open database. */
const LEFT_OVER = /\.new(-wal|-shm|-journal)?$/
const BUSY_TIMEOUT_MS = 5000

const NAME = /^reprise-(.+)-schema-(\d+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

/** The newest first. */
export function listCopies(folder: string): DatabaseCopy[] {
  return namesIn(folder)
    .flatMap((name): DatabaseCopy[] => {
      const match = NAME.exec(name)
      if (!match) return []
      const [, version = UNKNOWN, schema, ...time] = match
      const [year = 0, month = 1, day, hours, minutes, seconds] = time.map(Number)
      return [
        {
          path: join(folder, name),
          version: version === UNKNOWN ? null : version,
          schema: Number(schema),
          madeAt: new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds)),
        },
      ]
    })
    .sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime())
}

/** The newest copy that a Reprise can use that knows schemas up to this one. */
export function findCopyFor(folder: string, newestSchema: number): DatabaseCopy | null {
  return listCopies(folder).find(({ schema }) => schema <= newestSchema) ?? null
}

export interface CopyInput {
  folder: string
  version: string | null
  schema: number
  now: Date
}

/** Returns the path of the copy. Throws, and leaves nothing behind, if there is no room for it. */
export async function copyDatabase(database: DatabaseSync, input: CopyInput): Promise<string> {
  const { folder } = input
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of namesIn(folder)) if (LEFT_OVER.test(name)) rmSync(join(folder, name), { force: true })
  await requireRoom(database, folder)
  const path = join(folder, nameOf(input))
  const unfinished = `${path}${UNFINISHED}`
  // Created here, because SQLite would let other users read it.
  closeSync(openSync(unfinished, 'wx', 0o600))
  try {
    await backup(database, unfinished, { rate: PAGES_A_STEP })
    leaveWal(unfinished)
    // The folder of a copy must have it before the database is changed, also after a power cut.
    flush(unfinished)
    renameSync(unfinished, path)
    flush(folder)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  for (const old of listCopies(folder).slice(KEPT)) rmSync(old.path, { force: true })
  return path
}

/** A database in WAL mode gets two more files whenever it is read; a copy is one file. */
function leaveWal(path: string): void {
  const copy = new DatabaseSync(path)
  try {
    copy.exec('pragma journal_mode = delete')
  } finally {
    copy.close()
  }
}

function nameOf({ version, schema, now }: CopyInput): string {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `reprise-${version ?? UNKNOWN}-schema-${schema}-${time}.db`
}

/** Throws if the disk of the folder has too little room for a copy. A disk that does not say is taken to have enough. */
export async function requireRoom(database: DatabaseSync, folder: string): Promise<void> {
  const needed = bytesOf(database) + SPARE_BYTES
  // The folder may not be there yet.
  const { bavail, bsize, blocks } = await statfs(existsSync(folder) ? folder : dirname(folder))
  if (blocks === 0 || bavail * bsize >= needed) return
  throw new RepriseError(
    'home-unusable',
    `no room for a copy of the database: ${formatSize(needed)} needed in ${folder}, ${formatSize(bavail * bsize)} free`,
    { hint: 'Free some space and run `reprise up` again. The database is unchanged.' },
  )
}

/**
 * Calls `use` with a copy of a database that others may be writing, and removes the copy. A copy that a kill leaves is
 * removed when the next one is made.
 */
export async function withTemporaryCopy(
  source: string,
  folder: string,
  use: (copy: string) => Promise<void>,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const copy = join(folder, `rehearsal-${process.pid}${UNFINISHED}`)
  const remove = () => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(copy + end, { force: true })
  }
  remove()
  closeSync(openSync(copy, 'wx', 0o600))
  const database = new DatabaseSync(source, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    // One read transaction: a backup would begin again whenever another process writes.
    database.prepare('vacuum into ?').run(copy)
    await use(copy)
  } finally {
    database.close()
    remove()
  }
}

function bytesOf(database: DatabaseSync): number {
  const read = (pragma: string) => Number(Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0])
  return read('page_count') * read('page_size')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
