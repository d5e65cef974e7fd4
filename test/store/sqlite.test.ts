/** What is particular to SQLite: the file, its versions, its durability. */
import { execFile, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { RepriseError } from '../../src/contract/errors.ts'
import { RunId, SessionId } from '../../src/contract/ids.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/base/migrations/run.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { nodeSqliteDialect } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { admitted, at, ending, newRun, note, running, T0 } from './records.ts'
import { begun, plan, watching } from './watch-records.ts'

function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-sqlite-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function open(path: string): Promise<Store> {
  const store = await openSqliteStore(path, T0)
  onTestFinished(() => store.close().catch(() => {}))
  return store
}

async function refusal(path: string): Promise<RepriseError> {
  const error = await openSqliteStore(path, T0).catch((e: unknown) => e)
  expect(error).toBeInstanceOf(RepriseError)
  return error as RepriseError
}

/** Reads the file with another connection. */
function look<T>(path: string, query: string): T[] {
  const database = new DatabaseSync(path)
  try {
    return database.prepare(query).all() as T[]
  } finally {
    database.close()
  }
}

it('a run that is admitted after a restart with the clock set back waits for earlier ones', async () => {
  const path = join(temporaryDir(), 'reprise.db')
  const store = await open(path)
  const { session, attempt } = await running(store)
  await store.endAttempt(ending(attempt))
  const older = await admitted(store, { sessionId: session.id })
  await store.close()
  // Another process has another generator of ids.
  vi.resetModules()
  const ids = await import('../../src/contract/ids.ts')
  const restarted = await (await import('../../src/store/sqlite/open.ts')).openSqliteStore(path, at(-86_400))
  onTestFinished(() => restarted.close())
  const newer = ids.RunId.create(at(-86_400))
  await admitted(restarted, { sessionId: session.id, id: newer })
  expect((await restarted.listStartable(at(1), 10)).map(({ id }) => id)).toEqual([older.id])
  expect((await restarted.listRuns({ limit: 1 })).items.map(({ id }) => id)).toEqual([newer])
})

describe('migrations', () => {
  const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

  it('run once: a second start finds them done, and the data where it was', async () => {
    const path = join(temporaryDir(), 'db')
    const first = await openSqliteStore(path, T0)
    const run = await admitted(first)
    await first.close()
    const second = await openSqliteStore(path, at(99))
    expect(await second.getRun(run.id)).toEqual(run)
    await second.close()
    expect(readdirSync(dirname(path)), 'a closed store leaves one file').toEqual(['db'])
    expect(look(path, 'select number, name, applied_at from reprise_migrations')).toEqual(
      MIGRATIONS.map(({ number, name }) => ({ number, name, applied_at: T0.getTime() })),
    )
  })

  it('are numbered in order, each number once', () => {
    const numbers = MIGRATIONS.map(({ number }) => number)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  })

  it('with an unused lower number are not added: a newer database would never get them', () => {
    const numbers = MIGRATIONS.map(({ number }) => number)
    const known = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 28, 32, 33, 40, 41, 42]
    expect(numbers.slice(0, known.length)).toEqual(known)
  })

  it('of a newer Reprise: the database is refused with a helpful message, and not changed', async () => {
    const dir = temporaryDir()
    const path = join(dir, 'db')
    await (await openSqliteStore(path, T0)).close()
    look(path, `insert into reprise_migrations values (${NEWEST + 6}, 'future', 1) returning number`)
    expect(readdirSync(dir), 'a store that was never read from is closed too').toEqual(['db'])
    const before = { bytes: readFileSync(path), files: readdirSync(dir) }
    const error = await refusal(path)
    expect(error.code).toBe('database-newer')
    expect(error.message).toContain(`schema ${NEWEST + 6}`)
    expect(error.message).toContain(`up to ${NEWEST}`)
    expect(error.hint).toMatch(/newer version of Reprise/)
    expect({ bytes: readFileSync(path), files: readdirSync(dir) }).toEqual(before)
  })

  it('from before watches: existing data stays, and watches can be added', async () => {
    const path = join(temporaryDir(), 'db')
    const { Kysely: KyselyClass } = await import('kysely')
    const db = new KyselyClass<unknown>({ dialect: nodeSqliteDialect(new DatabaseSync(path)) })
    await migrate(db, T0, MIGRATIONS.slice(0, 8))
    await db.destroy()
    const id = RunId.create(T0)
    const request = JSON.stringify({ ...newRun().request, promptHash: 'x' })
    look(
      path,
      `insert into runs (id, agent, work_dir, prompt, prompt_id, request, state, cycle_id, created_at)
       values ('${id}', 'claude', '/', 'do it', 'p', '${request}', 'queued', null, ${T0.getTime()}) returning id`,
    )
    const store = await open(path)
    expect(await store.getRun(id)).toMatchObject({
      prompt: 'do it',
      state: { at: 'queued' },
      links: { cycleId: null, followUpId: null },
    })
    const { cycle } = await begun(store, await watching(store))
    const followUp = await plan(store, { runId: id })
    await store.fireFollowUp(followUp, { run: newRun({ followUpId: followUp.id }) }, null, at(60))
    expect(await store.listUnfinishedCycles()).toEqual([cycle])
    expect((await store.listRuns({ limit: 9 })).items).toHaveLength(3)
  })

  it('from before recorded versions: what is known of the agent that wrote a session is found again', async () => {
    const path = join(temporaryDir(), 'db')
    const { Kysely: KyselyClass } = await import('kysely')
    const db = new KyselyClass<unknown>({ dialect: nodeSqliteDialect(new DatabaseSync(path)) })
    const before = MIGRATIONS.filter(({ number }) => number < 18)
    await migrate(db, T0, before)
    await db.destroy()
    const [probed, unknown] = [SessionId.create(T0), SessionId.create(T0)]
    const probe = {
      path: '/v/1/claude',
      version: '2.1.325',
      runtimeId: 'old',
      capabilities: { resume: true, fork: false },
    }
    look(path, `insert into facts values ('runtime-2:claude:x', '${JSON.stringify(probe)}') returning key`)
    for (const [id, runtime] of [
      [probed, 'old'],
      [unknown, 'older'],
    ]) {
      look(
        path,
        `insert into sessions (id, agent, agent_session_id, work_dir, runtime_id, created_at, last_used_at)
         values ('${id}', 'claude', '${id}', '/', '${runtime}', 1, 1) returning id`,
      )
    }
    const store = await open(path)
    expect((await store.getSession(probed))?.runtime).toEqual({
      id: 'old',
      command: null,
      version: '2.1.325',
      can: ['resume'],
    })
    expect((await store.getSession(unknown))?.runtime).toBeNull()
  })

  it('are atomic, each by itself: a failing one keeps the ones before it, and can be run again', async () => {
    const path = join(temporaryDir(), 'db')
    const database = new DatabaseSync(path)
    const { Kysely: KyselyClass } = await import('kysely')
    const db = new KyselyClass<unknown>({ dialect: nodeSqliteDialect(database) })
    onTestFinished(() => db.destroy())
    const step = (number: number, up: Migration['up']): Migration => ({ number, name: `step ${number}`, up })
    const make = (table: string) => (k: Kysely<unknown>) =>
      sql`create table ${sql.table(table)} (x)`.execute(k).then(() => {})
    const breaks = step(2, async (k) => {
      await make('two')(k)
      throw new Error('power cut')
    })
    await expect(migrate(db, T0, [step(1, make('one')), breaks])).rejects.toThrow('power cut')
    const tables = () =>
      look<{ name: string }>(path, "select name from sqlite_master where type = 'table'").map((t) => t.name)
    expect(tables()).toEqual(['reprise_migrations', 'one'])
    await migrate(db, T0, [step(1, make('one')), step(2, make('two'))])
    expect(tables()).toEqual(['reprise_migrations', 'one', 'two'])
  })
})

describe('a path that cannot be used', () => {
  it('because the file is not a database: refused, and the file is unchanged', async () => {
    const dir = temporaryDir()
    const path = join(dir, 'db')
    const text = 'These are my notes, not a database.\n'.repeat(100)
    writeFileSync(path, text)
    const error = await refusal(path)
    expect(error).toMatchObject({ code: 'database-unusable' })
    expect(error.message).toContain(path)
    expect(error.hint).toMatch(/Check that the file is a Reprise database/)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(dir)).toEqual(['db'])
  })

  it.each<[string, (dir: string) => string]>([
    [
      'because it leads through a file',
      (dir) => {
        writeFileSync(join(dir, 'file'), '')
        return join(dir, 'file', 'db')
      },
    ],
    ['because its folder is not there', (dir) => join(dir, 'nowhere', 'db')],
    [
      'because it is a folder',
      (dir) => {
        mkdirSync(join(dir, 'folder'))
        return join(dir, 'folder')
      },
    ],
    [
      'because it points nowhere',
      (dir) => {
        symlinkSync('/nowhere/at/all', join(dir, 'link'))
        return join(dir, 'link')
      },
    ],
  ])('%s', async (_, make) => {
    const path = make(temporaryDir())
    const error = await refusal(path)
    expect(error).toMatchObject({ code: 'database-unusable' })
    expect(error.message).toContain(path)
  })

  it('is closed: the file can be removed and created again', async () => {
    const path = join(temporaryDir(), 'db')
    writeFileSync(path, 'x'.repeat(5000))
    await refusal(path)
    const open_ = readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return statSync(`/proc/self/fd/${fd}`).ino === statSync(path).ino
      } catch {
        return false
      }
    })
    expect(open_).toEqual([])
  })
})

describe('durability', () => {
  it('what was reported as stored is there after kill -9, and only complete', async () => {
    const path = join(temporaryDir(), 'db')
    const script = join(import.meta.dirname, 'fixtures', 'writes-until-killed.mjs')
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let told = ''
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        told += chunk
        // Killed in the middle of its work.
        if (told.split('\n').length > 40) child.kill('SIGKILL')
      })
      child.once('close', (_, signal) =>
        signal === 'SIGKILL' ? resolve() : reject(new Error(`ended by ${signal}`)),
      )
    })
    const ids = told.split('\n').filter((line) => RunId.is(line))
    expect(ids.length).toBeGreaterThanOrEqual(40)
    const store = await open(path)
    for (const id of ids) expect(await store.getRun(id as RunId)).toMatchObject({ state: { at: 'queued' } })
    expect(look(path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    await store.admitRun(newRun())
  })

  it('is configured in SQLite: write-ahead log', async () => {
    const path = join(temporaryDir(), 'db')
    const store = await open(path)
    await admitted(store)
    expect(look(path, 'pragma journal_mode')).toEqual([{ journal_mode: 'wal' }])
  })

  it('reads see what is committed, at once', async () => {
    const path = join(temporaryDir(), 'db')
    const store = await open(path)
    const { run, attempt } = await running(store)
    await store.advanceAttempt(attempt, EventBatch.of([note('x')]), 1, at(2))
    expect(look(path, `select count(*) as n from events where run_id = '${run.id}'`)).toEqual([{ n: 2 }])
  })
})

describe('group commit', () => {
  it('many writes at once share commits, yet each is atomic by itself', async () => {
    const path = join(temporaryDir(), 'db')
    const store = await open(path)
    await admitted(store)
    const walBefore = statSync(`${path}-wal`).size
    await Promise.all(Array.from({ length: 200 }, (_, i) => store.putFact(`k${i}`, 'v')))
    const pages = (statSync(`${path}-wal`).size - walBefore) / 4096
    // One commit per write would append at least one page per write.
    expect(pages).toBeLessThan(100)
    expect(look(path, "select count(*) as n from facts where key <> 'machine'")).toEqual([{ n: 200 }])
  })

  it('continues after a piece that fails in the middle', async () => {
    const store = await open(join(temporaryDir(), 'db'))
    const run = await admitted(store)
    const results = await Promise.allSettled([
      store.putFact('a', '1'),
      store.admitRun(newRun({ id: run.id })),
      store.putFact('b', null as unknown as string),
      store.putFact('c', '1'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect([await store.getFact('a'), await store.getFact('b'), await store.getFact('c')]).toEqual([
      '1',
      null,
      '1',
    ])
    await expect(store.putFact('d', '1')).resolves.toBeUndefined()
  })

  it('says that descriptors are missing, which SQLite does not', async () => {
    const path = join(temporaryDir(), 'db')
    const script = join(import.meta.dirname, 'fixtures', 'opens-without-descriptors.mjs')
    const { stdout } = await promisify(execFile)(process.execPath, [script, path])
    expect(stdout).toMatch(/^cannot use the database .*: EMFILE: too many open files\. Raise the limit/)
  })

  it('two processes that write at once wait for each other: no write fails, no key is used twice', async () => {
    const path = join(temporaryDir(), 'db')
    await (await openSqliteStore(path, T0)).close()
    const script = join(import.meta.dirname, 'fixtures', 'admits-keys.mjs')
    const count = process.env.REPRISE_TEST_ALL ? 150 : 60
    const admit = () => promisify(execFile)(process.execPath, [script, path, String(count)])
    const told = await Promise.all([admit(), admit(), admit()])
    expect(told.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(count)
    expect(look(path, 'select count(*) as n from runs')).toEqual([{ n: count }])
  })
})
