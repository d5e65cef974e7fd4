/** Pictures of the states of a page besides its content: empty, loading, failed, not found, signed out, disconnected. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { World } from '../../test/support/world.ts'

interface Studio {
  browser: Browser
  world: World
  target: string
}

const SIZES = {
  light: { width: 1360, height: 860 },
  phone: { width: 390, height: 844 },
} as const

async function inBothSizes(
  { browser, world, target }: Studio,
  visit: (page: Page, base: string, link: string, shoot: (name: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) {
    const context = await browser.newContext({ viewport, locale: 'en-GB', deviceScaleFactor: 1.5 })
    const page = await context.newPage()
    const { url } = await world.api<{ url: string }>('POST', '/api/sign-in-links', { name: 'laptop' })
    const shoot = (name: string) => page.screenshot({ path: join(target, `${name}-${size}.png`) })
    await visit(page, new URL('/', url).href, url, shoot)
    await context.close()
  }
}

const signIn = async (page: Page, link: string) => {
  await page.goto(link)
  await page.getByText('● live').waitFor()
}

const PLACES = ['', 'conversations', 'jobs', 'watches', 'sessions', 'costs', 'machine']

/** An installation in which nothing has happened yet. */
export const shootEmpty = (studio: Studio) =>
  inBothSizes(studio, async (page, base, link, shoot) => {
    await signIn(page, link)
    for (const place of PLACES) {
      await page.goto(base + place)
      await page.getByText('● live').waitFor()
      await page.waitForLoadState('networkidle', { timeout: 2500 }).catch(() => {})
      await shoot(`empty-${place || 'now'}`)
    }
  })

export const shootStates = (studio: Studio) =>
  inBothSizes(studio, async (page, base, link, shoot) => {
    await page.goto(`${base}jobs`)
    await page.getByText('not signed in').waitFor()
    await shoot('signed-out')
    await signIn(page, link)
    await page.goto(`${base}runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV`)
    await page.getByText('This does not exist.').waitFor()
    await shoot('not-found')
    for (const [place, api] of [
      ['', 'overview'],
      ['jobs', 'jobs'],
    ] as const) {
      const asked = (url: URL) => url.pathname === `/api/${api}`
      const body = JSON.stringify({
        error: {
          code: 'internal',
          message: 'the database is locked',
          hint: 'The log of the daemon has more.',
        },
      })
      await page.route(asked, (route) =>
        route.fulfill({ status: 500, contentType: 'application/json', body }),
      )
      await page.goto(base + place)
      await page.getByRole('alert').first().waitFor()
      await shoot(`error-${place || 'now'}`)
      await page.unroute(asked)
      await page.route(asked, () => {})
      await page.goto(base + place)
      await page.getByRole('status', { name: 'loading' }).first().waitFor()
      await shoot(`loading-${place || 'now'}`)
      await page.unroute(asked)
    }
  })

export const shootLost = (studio: Studio) =>
  inBothSizes(studio, async (page, _base, link, shoot) => {
    await signIn(page, link)
    await page.waitForLoadState('networkidle', { timeout: 2500 }).catch(() => {})
    await studio.world.killDaemon('SIGTERM')
    await page.getByText('No connection to the daemon').waitFor()
    await shoot('lost-now')
    await studio.world.startDaemon()
  })
