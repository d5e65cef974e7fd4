/**
 * What is on the disk after some months of use, with and without the sweep. The runs are stored as the engine would store
 * them, with a clock of the benchmark's own; both databases get the same, and one of them is swept every day.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventBody } from '../../src/contract/events.ts'
import { sweepRows } from '../../src/engine/retention/rows.ts'
import { Tally } from '../../src/engine/retention/tally.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { admitted, ending, newAttempt, newSession, startAttempt } from '../../test/store/records.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { timeMs } from '../measure.ts'

const DAY_MS = 86_400_000
const START = new Date('2026-01-01T00:00:00Z')
const RUNS_A_DAY = 40
const EVENTS_A_RUN = 40
const EVENT_CHARS = 500

const MONTH = {
  days: 30,
  keep: {
    runsMs: 14 * DAY_MS,
    eventsMs: 7 * DAY_MS,
    sessionsMs: 30 * DAY_MS,
    auditMs: Number.POSITIVE_INFINITY,
  },
}
const DEFAULTS = {
  days: 120,
  keep: {
    runsMs: 90 * DAY_MS,
    eventsMs: 30 * DAY_MS,
    sessionsMs: 180 * DAY_MS,
    auditMs: Number.POSITIVE_INFINITY,
  },
}

export const kept: Benchmark = {
  name: 'kept',
  about: `The size of the database after ${RUNS_A_DAY} runs a day, each with ${EVENTS_A_RUN} events of ${EVENT_CHARS} characters, swept every day ÷ never. After 30 days with keep.runs 14d and keep.events 7d, and after 120 days with the defaults. How long admitting a run takes while the sweep of a whole month runs.`,
  run: async ({ short }) => {
    const shorten = (use: typeof MONTH) => (short ? { ...use, days: 2 } : use)
    const month = await useFor(shorten(MONTH))
    const longer = await useFor(shorten(DEFAULTS))
    const mb = (bytes: number) => bytes / 1e6
    return [
      figure('a month, swept ÷ not swept', '×', [month.swept / month.whole]),
      figure('a month, not swept', 'MB', [mb(month.whole)]),
      figure('a month, swept', 'MB', [mb(month.swept)]),
      figure('four months with the defaults, swept ÷ not swept', '×', [longer.swept / longer.whole]),
      figure('four months, not swept', 'MB', [mb(longer.whole)]),
      figure('four months, swept', 'MB', [mb(longer.swept)]),
      figure('sweep of all of the first month at once', 'ms', [month.atOnceMs]),
      figure('admitting a run meanwhile', 'ms', month.admitMs),
    ]
  },
}

interface Use {
  days: number
  keep: { runsMs: number; eventsMs: number; sessionsMs: number; auditMs: number }
}

async function useFor({ days, keep }: Use) {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-bench-kept-'))
  const paths = { swept: join(dir, 'swept.db'), whole: join(dir, 'whole.db') }
  const stores = {
    swept: await openSqliteStore(paths.swept, START),
    whole: await openSqliteStore(paths.whole, START),
  }
  try {
    for (let day = 0; day < days; day++) {
      const at = new Date(START.getTime() + day * DAY_MS)
      for (const store of Object.values(stores)) await useForADay(store, at)
      await sweep(stores.swept, at, keep)
      await stores.swept.shrink({ thorough: false })
    }
    // The size without what is only in the log yet.
    await stores.whole.shrink({ thorough: false })
    const [swept, whole] = [statSync(paths.swept).size, statSync(paths.whole).size]
    const later = new Date(START.getTime() + (days + 400) * DAY_MS)
    const admitMs: number[] = []
    let sweeping = true
    const atOnce = timeMs(async () => {
      await sweep(stores.whole, later, keep)
      await stores.whole.shrink({ thorough: false })
      sweeping = false
    })
    while (sweeping) admitMs.push(await timeMs(() => admitted(stores.whole)))
    return { swept, whole, atOnceMs: await atOnce, admitMs }
  } finally {
    for (const store of Object.values(stores)) await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function useForADay(store: Store, at: Date): Promise<void> {
  const text = (n: number) => `${n} ${Math.random()} `.padEnd(EVENT_CHARS, 'words that an agent printed ')
  const events = Array.from(
    { length: EVENTS_A_RUN },
    (_, n) => ({ type: 'text-end', text: text(n) }) as EventBody,
  )
  const work = Array.from({ length: RUNS_A_DAY }, async () => {
    const run = await admitted(store, { createdAt: at })
    const session = newSession({ createdAt: at, lastUsedAt: at })
    const attempt = await startAttempt(store, {
      attempt: newAttempt(run, session, { startedAt: at }),
      newSession: session,
      events: () => [],
    })
    await store.advanceAttempt(attempt!, EventBatch.of(events), 10, at)
    await store.endAttempt(ending(attempt!, { at }))
  })
  await Promise.all(work)
}

async function sweep(store: Store, now: Date, keep: Use['keep']): Promise<void> {
  const { signal: closing } = new AbortController()
  await sweepRows({ store, closing, settings: { keep } }, { now, dryRun: false, tally: new Tally() })
}
