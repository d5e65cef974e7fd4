/** The dashboard of a real daemon in a real browser, signed in. One browser and one daemon serve all tests of a file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { findLastingPort } from '../support/lasting-port.ts'
import { parentOf } from '../support/processes.ts'
import { Watching } from '../support/watching.ts'
import { until, type World } from '../support/world.ts'
import { PATIENCE_MS } from './browser.ts'

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
    // The next daemon must have the same address, as it has for a user.
    const watching = await Watching.begin(rules, config, await findLastingPort())
    return new Desk(watching, browser)
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
    return until(() => this.world.agents().find(({ pid }) => isBelow(pid, keeper ?? 0))?.pid, 'the agent')
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.world.close()
  }
}

/** Whether a process was started by another one, directly or not. */
function isBelow(pid: number, ancestor: number): boolean {
  for (let at = parentOf(pid) ?? 0; at > 1; at = parentOf(at) ?? 0) if (at === ancestor) return true
  return false
}
