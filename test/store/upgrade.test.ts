/** Copies of the database before migrations, and going back to them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { RunId } from '../../src/contract/ids.ts'
import { preflight } from '../../src/library/preflight.ts'
import { MIGRATIONS, migrate } from '../../src/store/base/migrations/run.ts'
import { type CopyInput, copyDatabase } from '../../src/store/sqlite/copies.ts'
import { nodeSqliteDialect } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { isUnchangedSince } from '../../src/store/sqlite/rehearsal.ts'
import { checkRestore, restoreCopy } from '../../src/store/sqlite/upgrade.ts'
import { at, newRun, T0 } from './records.ts'

const LATER = 9999
const FIXTURE = new URL('fixtures/restores-in-steps.mjs', import.meta.url).pathname

let home: string
let path: string
let folder: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reprise-upgrade-'))
  path = join(home, 'reprise.db')
  folder = join(home, 'backups')
  const dir = home
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
})

/** Makes every disk say, until the test has ended, that this much is free. */
function setFree(bytes: number): void {
  vi.spyOn(promises, 'statfs').mockResolvedValue({ bavail: bytes, bsize: 1, blocks: 2 ** 40 } as never)
  // Modules that were loaded before import it by name.
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
}

const change = <T>(work: (database: DatabaseSync) => T, file = path): T => {
  const database = new DatabaseSync(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}
/** Makes a copy of the database. */
async function copyNow(input: Omit<CopyInput, 'folder'>): Promise<string> {
  const database = new DatabaseSync(path)
  try {
    return await copyDatabase(database, { folder, ...input })
  } finally {
    database.close()
  }
}
const schemaOf = (file: string) =>
  change((db) => Number(db.prepare('select max(number) as n from reprise_migrations').get()?.n), file)
const check = () =>
  preflight({ home, cwd: home, env: { REPRISE_PORT: '0' }, restore: undefined, url: 'http://127.0.0.1:1' })

/** A database with the migrations of an older version. */
async function createOlder(): Promise<void> {
  const db = new Kysely<unknown>({ dialect: nodeSqliteDialect(new DatabaseSync(path)) })
  await migrate(db, T0, MIGRATIONS.slice(0, -1))
  await db.destroy()
}

/** A database that a newer version has migrated, with the copy from before. Returns the copy. */
async function createNewer(): Promise<string> {
  const store = await openSqliteStore(path, T0)
  await store.admitRun(newRun())
  await store.close()
  const copy = await copyNow({ version: '1.0.0', schema: schemaOf(path), now: T0 })
  change((db) => db.prepare('insert into reprise_migrations values (?, ?, ?)').run(LATER, 'later', 0))
  return copy
}

test('without room for the copy nothing is stopped or changed, and the sentence says how much is missing', async () => {
  await createOlder()
  const before = schemaOf(path)
  setFree(3 * 2 ** 20)
  await expect(check()).rejects.toMatchObject({
    code: 'home-unusable',
    message: expect.stringMatching(
      /^no room for a copy of the database: \d\S+ ?\S* needed in .*backups, 3\S* ?\S* free$/,
    ),
  })
  // The disk may also fill between the check and the start.
  await expect(openSqliteStore(path, T0, { upgrade: { folder, version: '1.0.0' } })).rejects.toMatchObject({
    code: 'home-unusable',
  })
  expect(schemaOf(path)).toBe(before)
  expect(readdirSync(folder)).toEqual([])
  setFree(2 ** 40)
  await check()
  expect(schemaOf(path)).toBe(before)
  expect(readdirSync(folder)).toEqual([])
})

test('a database that cannot be migrated is found before the daemon is stopped', async () => {
  const store = await openSqliteStore(path, T0)
  await store.close()
  // What the migration adds is there already.
  change((db) =>
    db.exec('delete from reprise_migrations where number = (select max(number) from reprise_migrations)'),
  )
  await expect(check()).rejects.toMatchObject({
    code: 'database-unusable',
    message: expect.stringMatching(/^a copy of .*reprise\.db could not be migrated: .*(duplicate|exists)/),
    hint: expect.stringContaining('was not stopped'),
  })
  expect(readdirSync(folder)).toEqual([])
})

test('the newest three copies are kept, and files of others', async () => {
  await createOlder()
  mkdirSync(folder)
  for (const name of ['mine.db', 'reprise-1.0.0-schema-5-20200101T000000Z.db.new', 'rehearsal-1.new-wal'])
    writeFileSync(join(folder, name), '')
  for (let minute = 0; minute < 5; minute++) {
    await copyNow({ version: `1.0.${minute}`, schema: 5, now: at(minute * 60) })
  }
  expect(readdirSync(folder).map((name) => /^reprise-(.*)-schema-5-/.exec(name)?.[1] ?? name)).toEqual([
    'mine.db',
    '1.0.2',
    '1.0.3',
    '1.0.4',
  ])
})

test('going back is refused if it would forget an open run', async () => {
  await createNewer()
  const options = { folder, version: '1.0.0', file: null }
  expect(await checkRestore(path, options)).toContain(folder)
  const added = RunId.create(T0)
  change((db) => {
    db.exec('create temp table one as select * from runs limit 1')
    db.prepare('update one set id = ?, prompt_id = ?').run(added, 'another')
    db.exec('insert into runs select * from one')
  })
  await expect(checkRestore(path, options)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(added),
    hint: expect.stringContaining('reprise down --cancel'),
  })
})

test('kill -9 at any step of going back leaves the newer database or the older one, whole, and it can be repeated', async () => {
  const copy = await createNewer()
  const runsIn = (file: string) => change((db) => db.prepare('select id from runs').all(), file)
  const all = runsIn(path)
  const moments = mkdtempSync(join(tmpdir(), 'reprise-moments-'))
  onTestFinished(() => rmSync(moments, { recursive: true, force: true }))
  const child = spawnSync(process.execPath, [FIXTURE, home, copy, moments], { encoding: 'utf8' })
  expect(child.status, child.stderr).toBe(0)
  expect(schemaOf(path)).toBeLessThan(LATER)

  const steps = readdirSync(moments)
  expect(steps.length).toBeGreaterThan(8)
  const schemas = new Set<number>()
  for (const step of steps) {
    const [killed, copies] = [join(moments, step, 'reprise.db'), join(moments, step, 'backups')]
    expect(change((db) => db.prepare('pragma integrity_check').get(), killed)).toEqual({
      integrity_check: 'ok',
    })
    expect(runsIn(killed)).toEqual(all)
    const schema = schemaOf(killed)
    schemas.add(schema)
    if (schema !== LATER) {
      const kept = readdirSync(copies).filter((name) => name.endsWith('.db'))
      expect(kept.map((name) => schemaOf(join(copies, name)))).toContain(LATER)
      continue
    }
    await restoreCopy(killed, { folder: copies, version: '1.0.0', file: null, now: at(5) })
    expect(runsIn(killed)).toEqual(all)
    expect(schemaOf(killed)).toBe(schemaOf(copy))
  }
  expect([...schemas]).toEqual(expect.arrayContaining([LATER, schemaOf(copy)]))
})

test('whether something was done since the copy', async () => {
  const copy = await createNewer()
  expect(isUnchangedSince(path, copy)).toBe(true)
  change((db) => db.prepare('delete from reprise_migrations where number = ?').run(LATER))
  const store = await openSqliteStore(path, T0)
  await store.admitRun(newRun())
  await store.close()
  expect(isUnchangedSince(path, copy)).toBe(false)
})
