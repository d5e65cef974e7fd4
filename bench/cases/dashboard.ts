/** The dashboard in the Chromium of the tests: its first load, also on a slow processor, and a run with 100,000 events. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { findBrowser } from '../../test/web/browser.ts'
import { Desk } from '../../test/web/desk.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { timeMs } from '../measure.ts'

const SLOWED = 4

export const dashboard: Benchmark = {
  name: 'dashboard',
  about:
    'First load: bytes over the network, and the time until Now is shown, with an empty cache on loopback. Scrolling: the longest frame while the events of a run are scrolled from end to end.',
  run: async ({ short }) => {
    const found = await findBrowser()
    if ('problem' in found) throw new Error(`the browser does not start: ${found.problem}`)
    const desk = await Desk.open(found.browser, [{ reply: 'fine' }])
    try {
      const run = await desk.world.run({ prompt: 'hello' })
      await addEvents(desk, run.id, short ? 2000 : 100_000)
      const page = await desk.page()
      const sizes: number[] = []
      const plain: number[] = []
      const slowed: number[] = []
      for (let count = short ? 1 : 7; count > 0; count--) {
        sizes.push(await firstLoadKb(desk, page))
        plain.push(await timeLoad(desk, page, 1))
        slowed.push(await timeLoad(desk, page, SLOWED))
      }
      return [
        figure('first load, compressed', 'KB', sizes, { most: 250 }),
        figure('Now is shown', 'ms', plain),
        figure(`Now is shown, processor slowed ${SLOWED}×`, 'ms', slowed, { most: 1000 }),
        figure('longest frame while 100,000 events are scrolled', 'ms', await frames(desk, page, run.id), {
          most: 50,
        }),
      ]
    } finally {
      await desk.close()
    }
  },
}

/** Written into the database, because an agent would need minutes for them. */
async function addEvents(desk: Desk, runId: string, count: number): Promise<void> {
  await desk.world.killDaemon('SIGTERM')
  const db = new DatabaseSync(join(desk.world.home, 'reprise.db'))
  const { last } = db.prepare('select max(seq) as last from events where run_id = ?').get(runId) as {
    last: number
  }
  db.prepare('update events set seq = ? where run_id = ? and seq = ?').run(last + count, runId, last)
  const insert = db.prepare(
    "insert into events (run_id, seq, attempt_id, at, type, body) values (?, ?, null, ?, 'text-end', ?)",
  )
  db.exec('begin')
  for (let n = 0; n < count; n++) {
    const body = JSON.stringify({ type: 'text-end', text: `Line ${n} of what the agent said.` })
    insert.run(runId, last + n, Date.now(), body)
  }
  db.prepare('update runs set last_seq = ? where id = ?').run(last + count, runId)
  db.exec('commit')
  db.close()
  await desk.world.startDaemon()
}

async function firstLoadKb(desk: Desk, page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  let bytes = 0
  await session.send('Network.enable')
  await session.send('Network.clearBrowserCache')
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await show(desk, page)
  await session.detach()
  return bytes / 1024
}

async function timeLoad(desk: Desk, page: Page, rate: number): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  const ms = await timeMs(() => show(desk, page))
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await session.detach()
  return ms
}

async function show(desk: Desk, page: Page): Promise<void> {
  await page.goto(desk.url)
  await page.getByText('Nothing needs you').waitFor()
}

/** The longest frame of each pass over the list. */
async function frames(desk: Desk, page: Page, runId: string): Promise<number[]> {
  await desk.go(page, `/runs/${runId}`)
  await page.getByRole('tab', { name: 'Events' }).click()
  await page.getByRole('log', { name: 'Events' }).waitFor()
  await page.waitForFunction(
    'Number(/of ([\\d,]+)/.exec(document.body.innerText)?.[1]?.replaceAll(",", "")) >= 2000 && !document.querySelector("[role=status]")',
  )
  const pass = `new Promise((resolve) => {
    const list = document.querySelector('[role=log]')
    let longest = 0, before = performance.now(), step = 0
    list.scrollTop = 0
    const next = (at) => {
      longest = Math.max(longest, at - before)
      before = at
      if (step++ === 120) return resolve(longest)
      list.scrollTop = (list.scrollHeight * step) / 120
      requestAnimationFrame(next)
    }
    requestAnimationFrame((at) => { before = at; requestAnimationFrame(next) })
  })`
  const longest: number[] = []
  for (let count = 5; count > 0; count--) longest.push(Number(await page.evaluate(pass)))
  return longest
}
