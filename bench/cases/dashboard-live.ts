/**
 * The dashboard under load: a run that prints 1,000 events a second for a minute while its page is open; the speed at
 * which events are stored while 50 readers follow as tabs do; and the memory of an idle daemon that has served the page.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { findBrowser } from '../../test/web/browser.ts'
import { Desk } from '../../test/web/desk.ts'
import type { Benchmark } from '../benchmark.ts'
import { capturedMiddle, capturedTurn } from '../captured.ts'
import { type Figure, figure } from '../figure.ts'
import { claudePath } from '../machine.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { cpuMs, residentMb } from '../process-facts.ts'

const TABS = 50
const EVENTS_PER_SECOND = 1000
const READERS = resolve(import.meta.dirname, '../tab-readers.ts')
const WEB = resolve(import.meta.dirname, '../../dist/web')
const LATER_THAN_ANY_EVENT = 999_999_999_999_999

export const dashboardLive: Benchmark = {
  name: 'dashboard-live',
  about: `The longest frame and the memory of a page whose run prints ${EVENTS_PER_SECOND} lines a second; storing 200,000 lines with ${TABS} readers of the change feed, which have the lowest priority and gather changes as the page does, ÷ without; memory of an idle daemon that has served the page ÷ that has not.`,
  run: async ({ short }) => {
    const found = await findBrowser()
    if ('problem' in found) throw new Error(`the browser does not start: ${found.problem}`)
    const desk = await Desk.open(found.browser, [{ reply: 'unused' }])
    try {
      const seconds = short ? 4 : 60
      const agents = {
        steady: { adapter: 'claude', command: await writeSteady(desk, seconds) },
        flood: { adapter: 'claude', command: await writeFlood(desk, short ? 2000 : 200_000) },
      }
      await desk.world.killDaemon('SIGTERM')
      await desk.world.configure({ agents })
      await desk.world.startDaemon()
      return [
        ...(await measureStream(desk, seconds)),
        ...(await measureTabs(desk, short ? 1 : 4)),
        ...(await measureIdle(desk, short ? 1 : 3, short ? 500 : 3000)),
      ]
    } finally {
      await desk.close()
    }
  },
}

const probes = `case "$*" in *--version* | *--help*) exec '${claudePath()}' "$@" ;; esac`

async function writeAgent(desk: Desk, name: string, body: string): Promise<string> {
  const path = join(desk.world.dir, name)
  await writeFile(path, `#!/bin/sh\n${probes}\n${body}\n`)
  await chmod(path, 0o755)
  return path
}

/** Prints lines of the real CLI at a steady rate, then the result of a turn. */
async function writeSteady(desk: Desk, seconds: number): Promise<string> {
  const lines = join(desk.world.dir, 'steady-lines')
  await writeFile(lines, capturedMiddle(EVENTS_PER_SECOND * seconds))
  const last = join(desk.world.dir, 'steady-last')
  await writeFile(last, capturedTurn(1))
  const script = join(desk.world.dir, 'steady.mjs')
  await writeFile(
    script,
    `import { readFileSync } from 'node:fs'
const lines = readFileSync(${JSON.stringify(lines)}, 'utf8').split('\\n')
const begun = performance.now()
let printed = 0
const timer = setInterval(() => {
  const due = Math.min(lines.length, Math.floor(((performance.now() - begun) / 1000) * ${EVENTS_PER_SECOND}))
  process.stdout.write(lines.slice(printed, due).map((line) => line + '\\n').join(''))
  printed = due
  if (printed < lines.length) return
  clearInterval(timer)
  process.stdout.write(readFileSync(${JSON.stringify(last)}, 'utf8'))
}, 20)
`,
  )
  return writeAgent(desk, 'steady', `exec '${process.execPath}' '${script}'`)
}

const goFile = (desk: Desk) => join(desk.world.dir, 'go')

/** Prints everything as fast as it can, once it is told to. */
async function writeFlood(desk: Desk, lines: number): Promise<string> {
  const output = join(desk.world.dir, 'flood-lines')
  await writeFile(output, capturedTurn(lines))
  return writeAgent(
    desk,
    'flood',
    `until [ -e '${goFile(desk)}' ]; do sleep 0.01; done\nexec cat '${output}'`,
  )
}

async function measureStream(desk: Desk, seconds: number): Promise<Figure[]> {
  const page = await desk.page()
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const run = await desk.world.createRun({ prompt: 'steady', agent: 'steady' })
  await desk.go(page, `/runs/${run.id}`)
  await page.getByRole('log', { name: 'Transcript' }).waitFor()
  await recordFrames(page)
  // At first everything is loaded and compiled; memory is compared from then on.
  await delay((seconds * 1000) / 3)
  const early = await heapMb(session)
  await desk.world.settled(run.id)
  const late = await heapMb(session)
  const longest = Number(await page.evaluate('globalThis.longestFrame'))
  const { length } = await desk.world.events(run.id)
  await page.context().close()
  return [
    figure('longest frame, 1,000 events/s for a minute', 'ms', [longest], { most: 100 }),
    figure('heap of the page after the minute ÷ after a third of it', '×', [late / early], {
      most: 1.2,
      own: true,
    }),
    figure('heap of the page after the minute', 'MB', [late]),
    figure('events that were stored', 'rows/s', [length / seconds]),
  ]
}

const recordFrames = (page: Page) =>
  page.evaluate(`{
    globalThis.longestFrame = 0
    let before = performance.now()
    const next = (at) => {
      globalThis.longestFrame = Math.max(globalThis.longestFrame, at - before)
      before = at
      requestAnimationFrame(next)
    }
    requestAnimationFrame((at) => { before = at; requestAnimationFrame(next) })
  }`)

async function heapMb(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6
}

interface Flood {
  ms: number
  /** Processor time of the daemon. */
  daemonMs: number
}

/**
 * The readers have a process of their own with the lowest priority: on a machine with few cores they would otherwise take
 * the processor from the daemon, and their own work would be measured.
 */
async function measureTabs(desk: Desk, pairs: number): Promise<Figure[]> {
  const floods = { with: [] as Flood[], without: [] as Flood[] }
  const side = (name: keyof typeof floods, tabs: number) => async () => {
    const flooded = await flood(desk, tabs)
    floods[name].push(flooded)
    return flooded.ms
  }
  const sides = await interleave({ with: side('with', TABS), without: side('without', 0) }, pairs, {
    maxMs: 25_000,
  })
  // The first of each side is not measured.
  const [spent, spentAlone] = [floods.with, floods.without].map((side) =>
    side.slice(1).map(({ daemonMs }) => daemonMs),
  ) as [number[], number[]]
  return [
    // Both are times for the same output, so the ratio of the speeds is the inverse.
    figure(`storing output with ${TABS} tabs ÷ with none`, '×', ratios(sides.without, sides.with), {
      least: 0.95,
    }),
    figure(`storing output with ${TABS} tabs`, 'ms', sides.with),
    figure('storing output with none', 'ms', sides.without),
    figure(`processor time of the daemon with none ÷ with ${TABS} tabs`, '×', ratios(spentAlone, spent)),
    figure(`processor time of the daemon with ${TABS} tabs`, 'ms', spent),
  ]
}

/** From the moment at which the agent begins to print until the run has ended. */
async function flood(desk: Desk, tabs: number): Promise<Flood> {
  await rm(goFile(desk), { force: true })
  const run = await desk.world.createRun({ prompt: 'flood', agent: 'flood' })
  await desk.world.waitForEvent(run.id, ({ type }) => type === 'attempt-start')
  // Opening tabs is not measured.
  const readers = tabs > 0 ? await startReaders(desk, tabs) : null
  try {
    const before = cpuMs(desk.world.daemonPid)
    const ms = await timeMs(async () => {
      await writeFile(goFile(desk), '')
      const path = `/api/runs/${run.id}/events?after=${LATER_THAN_ANY_EVENT}`
      await (await desk.world.request('GET', path, undefined, { accept: 'application/x-ndjson' })).text()
    })
    return { ms, daemonMs: cpuMs(desk.world.daemonPid) - before }
  } finally {
    readers?.kill()
  }
}

/** Resolves when all of them read. */
async function startReaders(desk: Desk, count: number): Promise<ChildProcess> {
  const token = readFileSync(join(desk.world.home, 'token'), 'utf8').trim()
  const child = spawn(process.execPath, [READERS, desk.url, String(count)], {
    env: { ...process.env, REPRISE_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW)
  const outcome = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (typeof outcome[0] === 'number') throw new Error(`the readers ended with ${outcome[0]}`)
  return child
}

async function measureIdle(desk: Desk, rounds: number, calmMs: number): Promise<Figure[]> {
  const idle = (serves: boolean) => async () => {
    await desk.world.killDaemon('SIGTERM')
    await desk.world.startDaemon()
    if (serves) await servePage(desk)
    await delay(calmMs)
    return residentMb(desk.world.daemonPid)
  }
  const sides = await interleave({ served: idle(true), not: idle(false) }, rounds, { cold: true })
  return [
    figure('idle daemon that has served the page ÷ that has not', '×', ratios(sides.served, sides.not), {
      most: 1.05,
    }),
    figure('idle daemon that has served the page', 'MB', sides.served),
  ]
}

/** Every file of the page, as a browser asks for it. */
async function servePage(desk: Desk): Promise<void> {
  const files = [
    '',
    ...readdirSync(join(WEB, 'assets'))
      .filter((name) => !name.endsWith('.gz'))
      .map((name) => `assets/${name}`),
  ]
  for (const file of files) {
    const response = await fetch(new URL(`/${file}`, desk.url), { headers: { 'accept-encoding': 'gzip' } })
    await response.arrayBuffer()
  }
}
