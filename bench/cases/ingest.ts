/**
 * Rows per second of the real path from a spool file to stored, published events (Supervision, with the real store) ÷
 * of inserting the same rows, prepared beforehand, into the same table in transactions of the same size. Both use a new
 * database file with the same pragmas, so that both wait for the same disk. Measured on 90 MB, where reading has moved
 * to its thread, and on 18 MB, where it has hardly begun to.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { openSqliteStore, PRAGMAS } from '../../src/store/sqlite/open.ts'
import type { Benchmark } from '../benchmark.ts'
import { capturedTurn } from '../captured.ts'
import { type Figure, figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'
import { type Spooled, spoolAttempt } from '../spooled-attempt.ts'

export const ingest: Benchmark = {
  name: 'ingest',
  about:
    'Rows/s from spool file to stored and published events ÷ rows/s of a raw batched insert of the same rows (node:sqlite, same table, pragmas and rows per transaction).',
  run: async ({ short }) => {
    const burst = await measure(short ? 4000 : 40_000, short ? 1 : 15)
    if (short) return figuresOf(burst)
    const flood = await measure(200_000, 9)
    return [
      figure('ingest ÷ raw insert', '×', ratios(flood.ours, flood.raw), { least: 0.6 }),
      ...figuresOf(flood),
      figure(`ingest ÷ raw insert${BURST}`, '×', ratios(burst.ours, burst.raw)),
      ...figuresOf(burst, BURST),
    ]
  },
}

const BURST = ', 18 MB: the thread that reads has just begun'

async function measure(lines: number, pairs: number) {
  const output = capturedTurn(lines)
  const like = await withFolder(async (folder) => {
    const spooled = await spoolAttempt(folder, output)
    await spooled.supervise()
    const rows = readRows(spooled.database)
    await spooled.close()
    return rows
  })
  return interleave(
    {
      raw: () => withFolder((folder) => insertRows(folder, like, 1)),
      ours: () => withFolder((folder) => ingestRows(folder, output)),
      rawMany: () => withFolder((folder) => insertRows(folder, like, 32)),
    },
    pairs,
  )
}

function figuresOf({ ours, raw, rawMany }: Awaited<ReturnType<typeof measure>>, of = ''): Figure[] {
  return [
    figure(`ingest ÷ raw insert of 32 rows a statement${of}`, '×', ratios(ours, rawMany)),
    figure(`ingest${of}`, 'rows/s', ours),
    figure(`raw insert${of}`, 'rows/s', raw),
    figure(`raw insert, 32 rows a statement${of}`, 'rows/s', rawMany),
  ]
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function ingestRows(folder: string, output: string): Promise<number> {
  const spooled: Spooled = await spoolAttempt(folder, output)
  try {
    const from = performance.now()
    await spooled.supervise()
    const seconds = (performance.now() - from) / 1000
    return countEvents(spooled.database) / seconds
  } finally {
    await spooled.close()
  }
}

function countEvents(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare('select count(*) as n from events').get()?.n)
  } finally {
    database.close()
  }
}

type Row = SQLInputValue[]
/** The stored rows, grouped by the transaction that stored them: rows of one transaction have the same time. */
type Batches = Row[][]

function readRows(path: string): Batches {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database
      .prepare('select run_id, seq, attempt_id, at, type, body from events order by seq')
      .all()
    return [...Map.groupBy(rows, (row) => row.at).values()].map((batch) =>
      batch.map((row) => Object.values(row) as Row),
    )
  } finally {
    database.close()
  }
}

async function insertRows(folder: string, batches: Batches, rowsPerStatement: number): Promise<number> {
  const path = join(folder, 'reprise.db')
  await (await openSqliteStore(path, new Date())).close()
  const database = new DatabaseSync(path)
  try {
    database.exec(PRAGMAS)
    const insertOf = (rows: number) =>
      database.prepare(
        `insert into events (run_id, seq, attempt_id, at, type, body) values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
      )
    const [many, one] = [insertOf(rowsPerStatement), insertOf(1)]
    let count = 0
    const from = performance.now()
    for (const batch of batches) {
      database.exec('begin immediate')
      for (let at = 0; at < batch.length; ) {
        const size = batch.length - at >= rowsPerStatement ? rowsPerStatement : 1
        const rows = batch.slice(at, at + size)
        ;(size === 1 ? one : many).run(...(size === 1 ? (rows[0] ?? []) : rows.flat()))
        at += size
      }
      database.exec('commit')
      count += batch.length
    }
    return count / ((performance.now() - from) / 1000)
  } finally {
    database.close()
  }
}
