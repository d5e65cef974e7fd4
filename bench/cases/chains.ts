/**
 * Measures whether finding a chain gets slower with many runs. Two databases: one with a thousand runs in chains of
 * three, one with a million.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RunId } from '../../src/contract/ids.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { newRun } from '../../test/store/records.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

const FEW = 999
const REPEAT = 200

export const chains: Benchmark = {
  name: 'chains',
  about:
    'Finding a chain of three runs and their escalations from one of the runs: among a million runs ÷ among a thousand.',
  run: async ({ short }) => {
    const many = short ? 9999 : 999_999
    const folder = mkdtempSync(join(tmpdir(), 'reprise-chains-'))
    const few = await makeStore(join(folder, 'few.db'), FEW)
    const lots = await makeStore(join(folder, 'lots.db'), many)
    try {
      const sides = { few: () => timeChains(few, FEW), lots: () => timeChains(lots, many) }
      const measured = await interleave(sides, short ? 2 : 30)
      return [
        figure('a chain among a million runs ÷ among a thousand', '×', ratios(measured.lots, measured.few), {
          most: 3,
        }),
        figure('a chain among a million runs', 'ms', measured.lots),
      ]
    } finally {
      await Promise.all([few.close(), lots.close()])
      rmSync(folder, { recursive: true })
    }
  },
}

const idOf = (n: number) => `run_${String(n).padStart(26, '0')}` as RunId

async function makeStore(path: string, count: number): Promise<Store> {
  const store = await openSqliteStore(path, new Date())
  const { run } = await store.admitRun(newRun({ id: 'run_template' as RunId }))
  await store.close()
  const database = new DatabaseSync(path)
  const columns = database
    .prepare("select name from pragma_table_info('runs')")
    .all()
    .map(({ name }) => String(name))
  const values = columns.map((column) => {
    if (column === 'id') return "printf('run_%026d', n)"
    if (column === 'parent_run_id') return "case n % 3 when 1 then null else printf('run_%026d', n - 1) end"
    if (column === 'tier') return '(n - 1) % 3 + 1'
    return column === 'state' ? "'settled'" : `r.${column}`
  })
  database.exec(`pragma synchronous = off; begin;
    create temp table numbers as with recursive c(n) as (select 1 union all select n + 1 from c where n < ${count}) select n from c;
    insert into runs (${columns.join(', ')}) select ${values.join(', ')} from numbers, (select * from runs where id = '${run.id}') r;
    insert into escalations (run_id, tier, decision, reason, message, recommendation, decided_by, decided_at)
      select printf('run_%026d', n), (n - 1) % 3 + 1, 'stop', 'not-recommended', '', '{}', 'rules', 0 from numbers;
    commit`)
  database.close()
  return openSqliteStore(path, new Date())
}

/** Reads a different place each time, so that not only cached pages are used. */
async function timeChains(store: Store, count: number): Promise<number> {
  const ms = await timeMs(async () => {
    for (let i = 0; i < REPEAT; i++) {
      const runs = await store.listChain(idOf(1 + Math.floor(Math.random() * count)))
      if (runs.length !== 3) throw new Error(`expected a chain of three, got ${runs.length}`)
      await store.listEscalations(runs.map(({ id }) => id))
    }
  })
  return ms / REPEAT
}
