/** Sizes and circumstances that are rare and must not break the page. What agents would need hours for is written into the database. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addPastJobs } from '../../bench/past-jobs.ts'
import type { Conversation } from '../../src/contract/conversation.ts'
import { AttemptId, MessageId } from '../../src/contract/ids.ts'
import { bash, results } from '../support/incident.ts'
import { createJob, getJob, runJob } from '../support/jobs.ts'
import { findBrowser } from './browser.ts'
import { Desk } from './desk.ts'

/** What is used of an element of the page. */
interface Scrolled {
  scrollHeight: number
  scrollTop: number
  clientHeight: number
  scrollTo: (x: number, y: number) => void
  dispatchEvent: (event: Event) => boolean
}

const MESSAGES = 2000
const ATTEMPTS = 500
const JOBS = 260
const LONG = 5_000_000

const found = await findBrowser()

describe.skipIf('problem' in found)('the page bears', () => {
  let desk: Desk
  let page: Page
  let chat: Conversation
  let jobId: string

  beforeAll(async () => {
    if ('problem' in found) return
    desk = await Desk.open(found.browser, [
      { when: 'look', reply: [bash('ls'), results, 'Looked.'] },
      {
        when: 'recite',
        reply: [
          ...Array.from({ length: 6 }, (_, n) => [
            { text: `Verse ${n}.\n\n${'A line.\n\n'.repeat(30)}` },
            bash('true'),
            results,
          ]),
          ...['script', 'wheel', 'keyboard', 'race'].map((how) => [
            { hold: how },
            { text: `After the ${how}.` },
            bash('true'),
            results,
          ]),
          [{ hold: 'end' }, { text: 'The last verse.' }],
        ].flat(),
      },
      { reply: 'You said: ${user}' },
    ])
    chat = await desk.world.api<Conversation>('POST', '/api/conversations', { workDir: desk.world.workDir })
    jobId = (await runJob(desk.world, { prompt: 'needle in the haystack', permissions: 'allow' })).id
    await desk.world.killDaemon('SIGTERM')
    const path = join(desk.world.home, 'reprise.db')
    addPastJobs(path, JOBS)
    fill(path)
    await desk.world.startDaemon()
    page = await desk.page()
  })
  afterAll(async () => {
    await desk?.close()
    expect(desk?.problems).toEqual([])
  })

  function fill(path: string): void {
    const database = new DatabaseSync(path)
    database.exec('begin')
    // Copies are of the one job: their prompt tells them from it.
    database.prepare("update runs set prompt = 'hay' where job_id is not null and job_id <> ?").run(jobId)
    const insert = database.prepare(
      `insert into messages (id, conversation_id, turn, role, agent, blocks, state, revision, run_id, origin, created_at, edited_at)
       values (?, ?, ?, ?, 'claude', ?, 'complete', 0, null, null, ?, null)`,
    )
    for (let n = 0; n < MESSAGES; n++) {
      const text = n === MESSAGES - 1 ? `The end. ${'word '.repeat(LONG / 5)}` : `Message ${n}.`
      const role = n % 2 === 0 ? 'user' : 'assistant'
      const blocks = JSON.stringify([{ type: 'text', text }])
      insert.run(MessageId.create(new Date()), chat.id, (n >> 1) + 1, role, blocks, Date.now())
    }
    database.prepare('update conversations set turn_count = ? where id = ?').run(MESSAGES / 2, chat.id)
    const { run_id: runId } = database.prepare('select run_id from jobs where id = ?').get(jobId) as {
      run_id: string
    }
    const columns = (database.prepare('select * from attempts where run_id = ?').get(runId) ?? {}) as Record<
      string,
      string | number | null
    >
    const names = Object.keys(columns)
    const copy = database.prepare(
      `insert into attempts (${names.join()}) values (${names.map(() => '?').join()})`,
    )
    for (let n = 2; n <= ATTEMPTS; n++) {
      const row = { ...columns, id: AttemptId.create(new Date()), number: n }
      copy.run(...names.map((name) => row[name as keyof typeof row] ?? null))
    }
    database.prepare('update runs set attempt_count = ? where id = ?').run(ATTEMPTS, runId)
    database.exec('commit')
    database.close()
  }

  test('a conversation of 2,000 messages, the last of 5 MB', async () => {
    await desk.go(page, `/conversations/${chat.id}`)
    await page.getByText('The end. word word').first().waitFor()
    await page.getByRole('button', { name: /more characters; show more/ }).waitFor()
    // Only what is on the screen is drawn.
    expect(await page.getByRole('article').count()).toBeLessThan(40)
    const log = page.getByRole('log', { name: 'Messages' })
    await log.focus()
    await page.keyboard.press('Home')
    await page.getByText('Message 0.', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('typing still works')
  })

  test('a job with 500 attempts', async () => {
    await desk.go(page, `/jobs/${jobId}`)
    await page.getByRole('link', { name: `attempt ${ATTEMPTS}` }).waitFor()
    await page.getByRole('button', { name: 'Show 440 earlier attempts' }).click()
    await page.getByRole('link', { name: 'attempt 1', exact: true }).waitFor()
  })

  test('a transcript that grows is followed until the reader goes up, in whatever way, and again from its end', async () => {
    const { id: runId } = await desk.world.api<{ id: string }>('POST', '/api/runs', {
      prompt: 'recite',
      workDir: desk.world.workDir,
      permissions: 'allow',
    })
    await desk.go(page, `/runs/${runId}`)
    const log = page.getByRole('log', { name: 'Transcript' })
    // Rows that were never drawn count with a guess of their height, so the whole height differs from time to time.
    const fromEnd = () =>
      log.evaluate((list: Scrolled) => list.scrollHeight - list.scrollTop - list.clientHeight)
    const verse = page.getByText('Verse 0.')
    const goUp: Record<string, () => Promise<unknown>> = {
      script: () => log.evaluate((list: Scrolled) => list.scrollTo(0, 0)),
      wheel: async () => {
        await log.hover()
        await page.mouse.wheel(0, -100_000)
      },
      keyboard: async () => {
        await log.focus()
        await page.keyboard.press('Home')
      },
    }
    let newest = 'Verse 5.'
    for (const [how, go] of Object.entries(goUp)) {
      await log.focus()
      await page.keyboard.press('End')
      await page.getByText(newest).waitFor({ state: 'attached' })
      newest = `After the ${how}.`
      await expect.poll(fromEnd, { timeout: 60_000 }).toBeLessThan(48)
      await go()
      await verse.waitFor()
      desk.world.simulator.release(how)
      await page.getByRole('button', { name: /new ↓/ }).waitFor()
      expect(await fromEnd()).toBeGreaterThan(200)
      await verse.waitFor()
    }
    // A scroll event arrives a frame after the scrolling. Here the list always grows in between.
    await log.focus()
    await page.keyboard.press('End')
    await page.getByText(newest).waitFor({ state: 'attached' })
    await expect.poll(fromEnd, { timeout: 60_000 }).toBeLessThan(48)
    await page.evaluate(`{
      globalThis.holdBack = (event) => event.stopImmediatePropagation()
      addEventListener('scroll', globalThis.holdBack, { capture: true })
    }`)
    await log.evaluate((list: Scrolled) => list.scrollTo(0, 0))
    desk.world.simulator.release('race')
    await page.getByRole('button', { name: /new ↓/ }).waitFor()
    expect(await fromEnd()).toBeGreaterThan(200)
    await page.evaluate(`removeEventListener('scroll', globalThis.holdBack, { capture: true })`)
    await log.evaluate((list: Scrolled) => list.dispatchEvent(new Event('scroll')))
    await verse.waitFor()
    expect(await fromEnd()).toBeGreaterThan(200)
    await page.getByRole('button', { name: /new ↓/ }).click()
    desk.world.simulator.release('end')
    await page.getByText('The last verse.').waitFor()
    await desk.world.settled(runId)
  })

  test('hundreds of jobs: search, order and several at once reach those that are not loaded', async () => {
    await desk.go(page, '/jobs')
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    // The oldest is on the last page.
    const oldest = await desk.world.api<{ items: { id: string }[] }>('GET', '/api/jobs?sort=oldest&limit=1')
    const id = oldest.items[0]?.id ?? ''
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill(id.slice(-10))
    await page.waitForURL(/q=/)
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
    expect(await page.getByRole('link', { name: 'hay' }).getAttribute('href')).toBe(`/jobs/${id}`)
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill('needle')
    await page.getByRole('link', { name: 'needle in the haystack' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill('')
    await page.getByRole('button', { name: 'attempts' }).click()
    await page.waitForURL(/sort=attempts/)
    await page.getByRole('row').nth(1).getByRole('link', { name: 'needle' }).waitFor()
    await page.reload()
    await page.getByRole('row').nth(1).getByRole('link', { name: 'needle' }).waitFor()
    await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check()
    await page.getByRole('button', { name: 'Choose all that fit' }).click()
    await page.getByText(`${JOBS + 1} chosen`).waitFor()
  })

  test('rows that disappear and appear: the focus goes to the next one, and nothing moves under the pointer', async () => {
    const ask = (prompt: string) => createJob(desk.world, { prompt, permissions: 'ask-all' })
    const [one, two] = [await ask('look here'), await ask('look there')]
    await desk.go(page, '/')
    const list = page.getByRole('list', { name: 'Needs you' })
    await list.getByRole('link', { name: 'look here' }).waitFor()
    const here = list.getByRole('listitem').filter({ hasText: 'look here' })
    await here.getByRole('button', { name: 'Allow', exact: true }).focus()
    await page.keyboard.press('Enter')
    await list.getByRole('link', { name: 'look here' }).waitFor({ state: 'detached' })
    await expect
      .poll(() => page.evaluate('document.activeElement?.tagName !== "BODY"'), { timeout: 60_000 })
      .toBe(true)
    await list.getByRole('link', { name: 'look there' }).waitFor()
    await list.getByRole('button', { name: 'Allow', exact: true }).click()
    for (const { id } of [one, two]) await desk.world.settled((await getJob(desk.world, id)).runId)

    await desk.go(page, '/jobs')
    const first = page.getByRole('row').nth(1)
    await first.getByRole('link', { name: 'look there' }).hover()
    const added = await ask('look away')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await first.getByRole('link', { name: 'look there' }).waitFor()
    await page.getByRole('button', { name: '1 new' }).click()
    await first.getByRole('link', { name: 'look away' }).waitFor()
    await desk.world.api('POST', `/api/jobs/${added.id}/cancel`)
    await desk.world.settled(added.runId)
  })

  test('a clock that differs from that of the daemon, and a sign-in that is revoked under an open page', async () => {
    const other = await desk.visitor()
    await other.addInitScript(`{
      const real = Date.now.bind(Date)
      Date.now = () => real() + 3 * 3_600_000
    }`)
    await other.goto((await desk.link({ name: 'late' })).url)
    await other.getByText('● live').waitFor()
    await desk.go(other, '/jobs')
    await other
      .getByRole('row')
      .nth(1)
      .getByText(/now|s ago|m ago/)
      .first()
      .waitFor()
    expect(
      await other
        .getByRole('row')
        .nth(1)
        .getByText(/\dh ago/)
        .count(),
    ).toBe(0)
    const { items } = await desk.world.api<{ items: { id: string; name: string }[] }>('GET', '/api/tokens')
    const token = items.find(({ name }) => name === 'late')
    await desk.world.request('DELETE', `/api/tokens/${token?.id}`)
    await other.goto(new URL('/costs', desk.url).href)
    await other.getByText('This browser is not signed in').waitFor()
    await other.context().close()
  })
})
