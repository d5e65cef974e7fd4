/** The dashboard of a real daemon in a real browser, signed in. One browser and one daemon serve all tests of a file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Watching } from '../support/watching.ts'
import { until, type World } from '../support/world.ts'

/** Ends only what would never end: the machine may be busy. */
const PATIENCE_MS = 90_000

export class Desk {
  readonly watching: Watching
  readonly #browser: Browser
  /** Errors of pages, and requests to other hosts. */
  readonly problems: string[] = []

  private constructor(watching: Watching, browser: Browser) {
    this.watching = watching
    this.#browser = browser
  }

  static async open(browser: Browser, rules: readonly RuleInput[], config: object = {}): Promise<Desk> {
    const watching = await Watching.begin(rules, config)
    const desk = new Desk(watching, browser)
    // The next daemon must have the same address, as it has for a user.
    desk.world.env.REPRISE_PORT = new URL(desk.url).port
    return desk
  }

  get world(): World {
    return this.watching.world
  }

  get url(): string {
    return (JSON.parse(readFileSync(join(this.world.home, 'daemon.json'), 'utf8')) as { url: string }).url
  }

  /** A browser of its own: nothing is shared with others but the daemon. */
  async visitor(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    const { origin } = new URL(this.url)
    page.on('pageerror', (error) => this.problems.push(String(error)))
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.origin !== origin && url.protocol !== 'data:') this.problems.push(`a request to ${url.href}`)
    })
    return page
  }

  link(request: object = {}): Promise<{ url: string }> {
    return this.world.api('POST', '/api/sign-in-links', request)
  }

  /** A signed-in page, at this address. */
  async page(path = '/', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.visitor(options)
    await page.goto((await this.link({ name: 'test' })).url)
    await page.getByText('● live').waitFor()
    if (path !== '/') await this.go(page, path)
    return page
  }

  async go(page: Page, path: string): Promise<void> {
    await page.goto(new URL(path, this.url).href)
    await page.getByText('● live').waitFor()
  }

  /** The process of the agent that works on this run. */
  async agentOf(runId: string): Promise<number> {
    const { attempts } = await this.world.getRun(runId)
    const keeper = attempts.at(-1)?.pid
    return until(
      () =>
        this.world
          .processes()
          .find(({ pid, command }) => command.includes('--output-format') && isBelow(pid, keeper ?? 0))?.pid,
      'the agent',
    )
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.world.close()
  }
}

/** Whether a process was started by another one, directly or not; the keeper itself is not the agent. */
function isBelow(pid: number, ancestor: number): boolean {
  for (let at = parentOf(pid); at > 1; at = parentOf(at)) if (at === ancestor) return readComm(pid) !== 'sh'
  return false
}

const readStat = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}
const parentOf = (pid: number): number => Number(/\) \S (\d+) /.exec(readStat(pid))?.[1] ?? 0)
const readComm = (pid: number): string => /\((.*)\)/.exec(readStat(pid))?.[1] ?? ''
