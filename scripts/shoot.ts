import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBrowser } from '/work/h/web/test/web/browser.ts'
const home = process.argv[2]!
const { url } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'))
const token = readFileSync(join(home, 'token'), 'utf8').trim()
const api = async (m: string, p: string, b?: object) => (await fetch(url + p, { method: m, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, ...(b ? { body: JSON.stringify(b) } : {}) })).json() as any
const found = await findBrowser(); if ('problem' in found) throw new Error(found.problem)
const { browser } = found
const conv = (await api('GET', '/api/conversations')).items[0]?.id
const jobs = (await api('GET', '/api/jobs')).items
const job = jobs.find((j: any) => j.prompt.startsWith('Upgrade'))
const cyc = (await api('GET', '/api/watches/media/cycles')).items.at(-1)?.id
const pages: Record<string, string> = { now: '/', conversation: `/conversations/${conv}`, job: `/jobs/${job.id}`, run: `/runs/${job.runId}`, incident: `/cycles/${cyc}`, conversations: '/conversations', jobs: '/jobs', watches: '/watches', watch: '/watches/media', sessions: '/sessions', session: `/sessions/${job.session}`, costs: '/costs', machine: '/machine' }
const looks: any = { light: { viewport: { width: 1360, height: 860 }, colorScheme: 'light' }, dark: { viewport: { width: 1360, height: 860 }, colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } }
const [, , , lk, names] = process.argv
for (const look of (lk ?? 'light').split(',')) {
  const c = await browser.newContext({ ...looks[look], locale: 'en-GB' })
  const page = await c.newPage()
  page.on('pageerror', (e) => console.log(look, 'ERR', e.message)); page.on('console', (m) => m.type() === 'error' && console.log(look, m.text()))
  await page.goto((await api('POST', '/api/sign-in-links', { name: 'laptop' })).url)
  await page.getByText('live').first().waitFor()
  for (const [n, p] of Object.entries(pages)) { if (names && !names.split(',').includes(n)) continue
    await page.goto(url + p); await page.locator('main h1').first().waitFor({ state: 'attached' }); await page.waitForTimeout(900)
    await page.screenshot({ path: `/tmp/shots/${n}-${look}.png` }) }
  await c.close()
}
await browser.close()
