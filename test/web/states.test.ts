/** The states that every page has besides its content: empty, failed, without connection. And a daemon without credentials. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session } from '../../src/contract/session.ts'
import type { Watch } from '../../src/contract/watch.ts'
import { runJob } from '../support/jobs.ts'
import { findBrowser } from './browser.ts'
import { Desk } from './desk.ts'

const PAGES = {
  '/': 'reprise run',
  '/conversations': 'reprise chat',
  '/jobs': 'reprise run',
  '/watches': 'reprise watch add',
  '/sessions': 'reprise run',
  '/costs': 'reprise run',
  '/machine': 'reprise trust',
} as const

const found = await findBrowser()

describe.skipIf('problem' in found)('a page', () => {
  let desk: Desk
  let page: Page

  beforeAll(async () => {
    if ('problem' in found) return
    desk = await Desk.open(found.browser, [{ reply: 'Fine.' }])
    // As on a machine without credentials: the agent talks to the built-in simulator.
    await desk.world.killDaemon('SIGTERM')
    delete desk.world.env.ANTHROPIC_BASE_URL
    delete desk.world.env.ANTHROPIC_API_KEY
    await desk.world.startDaemon()
    page = await desk.page()
  })
  afterAll(async () => {
    await desk?.close()
    expect(desk?.problems).toEqual([])
  })

  test('that is empty says so, with a command to copy', async () => {
    for (const [path, command] of Object.entries(PAGES)) {
      await desk.go(page, path)
      await page.getByRole('main').getByRole('button', { name: command }).first().waitFor()
    }
  })

  test('that cannot be loaded says so, and loads when it is tried again', async () => {
    for (const [path, api] of [
      ['/', 'overview'],
      ['/jobs', 'jobs'],
      ['/watches', 'watches'],
      ['/costs', 'costs'],
    ] as const) {
      const url = (asked: URL) => asked.pathname === `/api/${api}`
      const body = JSON.stringify({ error: { code: 'internal', message: 'the disk is broken' } })
      await page.route(url, (route) => route.fulfill({ status: 500, contentType: 'application/json', body }))
      await desk.go(page, path)
      await page.getByRole('alert').getByText('the disk is broken').waitFor()
      await page.unroute(url)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('main').getByRole('button', { name: PAGES[path] }).first().waitFor()
    }
  })

  test('with simulated costs marks them, also those that come while it is open', async () => {
    await desk.go(page, '/costs')
    await page.getByRole('main').getByRole('button', { name: PAGES['/costs'] }).waitFor()
    await runJob(desk.world, { prompt: 'Say hello.', permissions: 'allow' })
    await page.getByText('Cost, partly simulated').waitFor()
    await desk.go(page, '/')
    await page
      .getByRole('banner')
      .getByText(/today, simulated/)
      .waitFor()
    await page.getByText('Cost, simulated').waitFor()
  })

  test('shows what others did: to a watch while it is open, to the tokens when it is opened again', async () => {
    const { workDir } = desk.world
    const post = <T>(path: string, body: object = {}) => desk.world.api<T>('POST', path, body)
    const watch = await post<Watch>('/api/watches', { name: 'web', prompt: 'Look.', workDir })
    await desk.go(page, '/watches/web')
    const done = page.getByRole('list').filter({ hasText: 'command line' })
    await done.getByText('created').waitFor()
    // A request is on record once it is answered: the change that the second one makes comes after that.
    await post(`/api/watches/${watch.id}/pause`)
    await post(`/api/watches/${watch.id}/resume`)
    await done.getByText('paused').waitFor()
    await desk.go(page, '/machine')
    await page.getByRole('list', { name: 'Tokens' }).getByText('this browser').waitFor()
    const open = (name: string) => page.getByRole('navigation').getByRole('link', { name }).first().click()
    await open('Jobs')
    await page.getByRole('link', { name: 'Say hello.' }).waitFor()
    await post('/api/tokens', { name: 'later', scope: 'read' })
    await open('Machine')
    await page.getByRole('list', { name: 'Tokens' }).getByText('later').waitFor()
  })

  test('leads from a follow-up to the session that it is planned for', async () => {
    const { items } = await desk.world.api<{ items: Session[] }>('GET', '/api/sessions')
    const wish = { prompt: 'Look again.', sessionId: items[0]?.id, inMs: 3_600_000 }
    await desk.world.api('POST', '/api/followups', wish)
    await desk.go(page, '/')
    await page.getByRole('link', { name: 'Look again.' }).click()
    await page.waitForURL(`**/sessions/${items[0]?.id}`)
    await page.getByText('Look again.').first().waitFor()
  })

  test('without a connection keeps what it shows', async () => {
    await desk.go(page, '/jobs')
    await page.getByRole('link', { name: 'Say hello.' }).waitFor()
    await desk.world.killDaemon('SIGTERM')
    await page.getByText('No connection to the daemon').waitFor()
    await page.getByRole('link', { name: 'Say hello.' }).waitFor()
  })

  test('of a browser asks to sign in after the token of the command line was rotated', async () => {
    await desk.world.startDaemon()
    await page.getByText('● live').waitFor()
    const { items } = await desk.world.api<{ items: { id: string; kind: string }[] }>('GET', '/api/tokens')
    const id = items.find(({ kind }) => kind === 'command-line')?.id
    await desk.world.request('POST', `/api/tokens/${id}/rotate`)
    await page.getByText('This browser is not signed in').waitFor()
  })
})
