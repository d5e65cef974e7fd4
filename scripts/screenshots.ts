/**
 * Makes pictures of every page in light, dark and phone width, with the data of screenshots/story.ts, and of the states
 * that pages have besides their content (screenshots/states.ts).
 * `npm run screenshots` writes them to dist/screenshots; `-- --docs` also updates those in docs/pictures.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { findBrowser } from '../test/web/browser.ts'
import { shootEmpty, shootLost, shootStates } from './screenshots/states.ts'
import { begin, play } from './screenshots/story.ts'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist', 'screenshots')
mkdirSync(target, { recursive: true })

const found = await findBrowser()
if ('problem' in found) throw new Error(`the browser does not start: ${found.problem}`)
const { browser } = found
const watching = await begin()
const { world } = watching
const only = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const wanted = (name: string) => only.length === 0 || only.includes(name)
try {
  const states = { browser, world, target }
  if (wanted('empty')) await shootEmpty(states)
  const story = await play(watching)
  const pages = {
    now: '/',
    conversation: `/conversations/${story.conversation}`,
    job: `/jobs/${story.job}`,
    run: `/runs/${story.run}`,
    incident: `/cycles/${story.cycle}`,
    conversations: '/conversations',
    jobs: '/jobs',
    watches: '/watches',
    watch: '/watches/media',
    sessions: '/sessions',
    session: `/sessions/${story.session}`,
    costs: '/costs',
    machine: '/machine',
  }
  const looks: Record<string, BrowserContextOptions> = {
    light: { viewport: { width: 1360, height: 860 }, colorScheme: 'light' },
    dark: { viewport: { width: 1360, height: 860 }, colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
  }
  for (const [look, options] of Object.entries(looks)) {
    const context = await browser.newContext({
      ...options,
      locale: 'en-GB',
      deviceScaleFactor: 1.5,
      bypassCSP: true,
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => console.error(look, error))
    page.on('console', (message) => message.type() === 'error' && console.error(look, message.text()))
    const { url } = await world.api<{ url: string }>('POST', '/api/sign-in-links', { name: `laptop` })
    await page.goto(url)
    await page.getByText('live', { exact: false }).first().waitFor()
    for (const [name, path] of Object.entries(pages)) {
      if (!wanted(name)) continue
      await page.goto(new URL(path, url).href)
      await page.locator('main h1').first().waitFor({ state: 'attached' })
      await page.waitForLoadState('networkidle', { timeout: 2500 }).catch(() => {})
      // The fonts of a build machine are not those of a desktop.
      await page.addStyleTag({ content: ':root, body { font-family: Inter, system-ui, sans-serif }' })
      await page.waitForTimeout(500)
      await page.screenshot({ path: join(target, `${name}-${look}.png`) })
    }
    await context.close()
  }
  if (wanted('states')) await shootStates(states)
  if (wanted('lost')) await shootLost(states)
  if (process.argv.includes('--docs')) {
    for (const name of ['now-light', 'job-dark', 'incident-light']) {
      copyFileSync(join(target, `${name}.png`), join(root, 'docs', 'pictures', `${name}.png`))
    }
  }
} finally {
  await browser.close()
  await world.killDaemon('SIGTERM')
  for (const { pid } of world.processes()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {}
  }
  await world.close().catch(() => {})
}
