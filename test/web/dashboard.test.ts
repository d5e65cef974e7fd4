/** The dashboard, as a person uses it: real browser, real daemon, real agent, scripted model. */
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Conversation } from '../../src/contract/conversation.ts'
import { CycleId } from '../../src/contract/ids.ts'
import type { Run } from '../../src/contract/run.ts'
import { bash, results, threeTiers } from '../support/incident.ts'
import { QUESTION } from '../support/question.ts'
import { findBrowser } from './browser.ts'
import { Desk } from './desk.ts'

const HOSTILE = [
  '<img src="http://evil.example/x.png" onerror="globalThis.pwned = 1"> <script>globalThis.pwned = 1</script>',
  '[click](javascript:globalThis.pwned=1) ![pixel](http://evil.example/pixel.png)',
  'left \u202Etfel\u202C right',
].join('\n\n')

/** Ends only what would never come. */
const WAIT = { timeout: 120_000, interval: 20 }

const found = await findBrowser()

test('the browser from npm starts', (context) => {
  if ('problem' in found) context.skip(`the tests of the dashboard are skipped: ${found.problem}`)
})

describe.skipIf('problem' in found)('the dashboard', () => {
  let desk: Desk
  let page: Page

  beforeAll(async () => {
    if ('problem' in found) return
    desk = await Desk.open(
      found.browser,
      [
        {
          when: 'Ask me',
          reply: [{ tool: 'AskUserQuestion', input: { questions: [QUESTION] } }, results, 'So be it.'],
        },
        { when: 'remove the cache', reply: [bash('rm -rf ./cache'), results, 'Removed.'] },
        { when: 'long work', reply: ['Beginning.', bash('echo one'), results, { hold: 'work' }, 'never'] },
        { when: /think it over$/, reply: ['Thinking.', { hold: 'thought' }, ' Thought.'] },
        { when: 'You were interrupted', reply: 'Went on and finished.' },
        {
          when: 'Be hostile',
          reply: [bash("printf '\\033]0;pwned\\007\\033[31mred\\033[0m'"), results, { text: HOSTILE }],
        },
        ...threeTiers,
        { reply: 'You said: ${user}' },
      ],
      { tiers: { 3: { approval: true } } },
    )
    page = await desk.page()
  })
  afterAll(async () => {
    await desk?.close()
    expect(desk?.problems).toEqual([])
  })

  const chat = () =>
    desk.world.api<Conversation>('POST', '/api/conversations', { workDir: desk.world.workDir })
  const job = (prompt: string, more: object = {}) =>
    desk.world.api<{ id: string; runId: string }>('POST', '/api/jobs', {
      prompt,
      workDir: desk.world.workDir,
      permissions: 'allow',
      ...more,
    })
  const send = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('textbox', { name: 'Message' }).press('Control+Enter')
  }

  test('a link signs in once; the cookie is invisible to scripts; without it there is only the sign-in page', async () => {
    const { url } = await desk.link()
    const stranger = await desk.visitor()
    await stranger.goto(new URL('/jobs', desk.url).href)
    await stranger.getByText('This browser is not signed in').waitFor()
    await stranger.goto(url)
    await stranger.getByText('● live').waitFor()
    const [cookie] = await stranger.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    // The secret is not kept in the address.
    expect(stranger.url()).not.toContain('#')
    const second = await desk.visitor()
    await second.goto(url)
    await second.getByText('was used before, or has expired').waitFor()
    await stranger.context().close()
    await second.context().close()
  })

  test('a question is answered in the page, and the model gets the answer', async () => {
    const { id } = await chat()
    await desk.go(page, `/conversations/${id}`)
    await send('Ask me something')
    await page.getByRole('radio', { name: /Blue/ }).waitFor()
    // The list of conversations says so, too.
    await desk.go(page, '/conversations')
    await page.getByRole('listitem').filter({ hasText: 'needs you' }).getByRole('link').click()
    await page.getByRole('radio', { name: /Blue/ }).check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByText('So be it.').waitFor()
    const told = desk.world.simulator
      .requests()
      .filter(({ toolResults }) => JSON.stringify(toolResults).includes('Blue'))
    expect(told.length).toBeGreaterThan(0)
    // Who answered, and from where.
    await page.getByRole('link', { name: 'new session' }).click()
    await page.getByText('answered “Blue”').waitFor()
  })

  test('a message is said to the agent at work, which answers it in the same turn', async () => {
    const { id } = await chat()
    await desk.go(page, `/conversations/${id}`)
    await send('think it over')
    await page.getByText('Thinking.').waitFor()
    await desk.world.simulator.waitForHold('thought')
    await page.getByRole('textbox', { name: 'Message' }).fill('mind the heliotrope')
    await page.getByRole('button', { name: 'Say now' }).click()
    // Sent: the field is empty.
    await page.locator('textarea[aria-label="Message"]:placeholder-shown').waitFor()
    desk.world.simulator.release('thought')
    await page.getByText(/You said: .*mind the heliotrope/).waitFor()
    // The turn has ended.
    await page.getByRole('button', { name: 'Send' }).waitFor()
    const [request] = desk.world.simulator.requests({ kind: 'main' }).slice(-1)
    expect(JSON.stringify(request?.messages).split('mind the heliotrope')).toHaveLength(2)
    expect(await desk.world.api('GET', `/api/conversations/${id}`)).toMatchObject({ turnCount: 1 })
  })

  test('what sending will do is said before; a forced fresh start and an edit are seen in what the model is sent', async () => {
    const { id } = await chat()
    await desk.go(page, `/conversations/${id}`)
    await page.getByText('Starts a new session.').waitFor()
    await send('My number is 4711.')
    await page.getByText('You said: My number is 4711.').waitFor()
    await page.getByText(/Resumes session \w{8}…, sends only this message\./).waitFor()

    await page.getByRole('checkbox', { name: 'start fresh' }).check()
    await page.getByText('Starts fresh with 1 earlier turn: you asked for it.').waitFor()
    await send('Second question')
    await page.getByText('new session (requested), with the history').waitFor()
    const fresh = desk.world.simulator
      .requests()
      .findLast(({ userText }) => userText.includes('Second question'))
    expect(fresh?.userText).toContain('My number is 4711.')

    await page.getByRole('article', { name: 'You' }).first().hover()
    await page.getByRole('button', { name: 'Edit' }).first().click()
    await page.getByText('its next turn starts fresh with the changed history').waitFor()
    await page.getByRole('textbox', { name: 'Message' }).first().fill('My number is 1234.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Starts fresh with 2 earlier turns: the history was changed.').waitFor()
    await send('Third question')
    await page.getByText('new session (the history was changed), with the history').waitFor()
    const edited = desk.world.simulator
      .requests()
      .findLast(({ userText }) => userText.includes('Third question'))
    expect(edited?.userText).toContain('My number is 1234.')
    expect(edited?.userText).not.toContain('question: My number is 4711.')
  })

  test('a job is killed and resumed while its page is open', async () => {
    const { id, runId } = await job('Do the long work')
    await desk.go(page, `/jobs/${id}`)
    await desk.world.waitForEvent(runId, ({ type }) => type === 'tool-end')
    await page.getByText('Beginning.').waitFor()
    process.kill(await desk.agentOf(runId), 'SIGKILL')
    await page.getByText('Went on and finished.').first().waitFor()
    await page.getByRole('listitem').filter({ hasText: 'attempt 1' }).getByText('crashed').waitFor()
    const second = page.getByRole('listitem').filter({ hasText: 'attempt 2' })
    await second.getByText('resumed session').waitFor()
    await second.getByTitle('tokens of the context window').waitFor()
    await page.getByText('✓ completed').first().waitFor()
    // Everything once, also what was said before the kill.
    expect(await page.getByText('Beginning.').count()).toBe(1)
  })

  test('an incident goes through three tiers with an approval in the page', async () => {
    await desk.watching.add()
    await desk.go(page, '/watches')
    await page.getByRole('button', { name: 'Trigger' }).click()
    await page.getByRole('link', { name: 'tier 1 observe' }).waitFor()
    await page.getByText('Tier 3 full wants to start').waitFor()
    expect(desk.watching.incident.docker).not.toContain('compose up -d web')
    await vi.waitFor(async () => expect(await page.title()).toContain('◆ 1'), WAIT)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('✓ fixed').first().waitFor()
    await page.getByText('approved by “test” from 127.0.0.1').waitFor()
    // What the tiers were told can be unfolded.
    await page.locator('summary', { hasText: 'told' }).first().click()
    await page
      .locator('pre', { hasText: /tier 1 of/ })
      .first()
      .waitFor()
    expect(desk.watching.incident.docker).toContain('compose up -d web')
  })

  test('a skipped cycle leads to the one that took its events', async () => {
    const { lastCycle } = await desk.watching.watch()
    const skipped = { ...lastCycle, id: CycleId.create(new Date()), state: 'skipped', takenBy: lastCycle?.id }
    const detail = { ...skipped, prompt: '', events: [], chain: null, followUps: [] }
    await page.route(`**/api/cycles/${skipped.id}`, (route) => route.fulfill({ json: detail }))
    await desk.go(page, `/cycles/${skipped.id}`)
    await page.getByRole('link', { name: 'in the cycle that took them' }).click()
    await page.waitForURL(`**/cycles/${lastCycle?.id}`)
  })

  test('two tabs answer one request: the second is told so', async () => {
    const { runId } = await job('Please remove the cache', { permissions: 'ask-all' })
    await desk.world.waitForEvent(runId, ({ type }) => type === 'permission-ask')
    const other = await desk.page()
    const [row, otherRow] = [page, other].map((one) =>
      one.getByRole('listitem').filter({ hasText: 'remove the cache' }),
    )
    await desk.go(page, '/')
    // The exact command, before anybody allows it.
    await row?.getByText('rm -rf ./cache').first().waitFor()
    await otherRow?.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    // This tab hears nothing for a while.
    await other.route('**/api/overview*', (route) => route.abort())
    await row?.getByRole('button', { name: 'Deny', exact: true }).click()
    await row?.getByRole('button', { name: 'Deny', exact: true }).waitFor({ state: 'detached' })
    await otherRow?.getByRole('button', { name: 'Allow', exact: true }).click()
    await otherRow?.getByText('Answered already').waitFor()
    expect((await desk.world.settled(runId)).refusals).toBe(0)
    const events = await desk.world.events(runId)
    expect(events.filter(({ type }) => type === 'question-answer')).toMatchObject([{ decision: 'deny' }])
    await other.context().close()
  })

  test('hostile output is only text', async () => {
    const run = await desk.world.run({ prompt: 'Be hostile', permissions: 'allow' })
    await desk.go(page, `/runs/${run.id}`)
    await page.getByText('[image: pixel]').waitFor()
    await page.getByText('left \\u{202e}tfel').waitFor()
    expect(await page.getByRole('link', { name: 'click' }).count()).toBe(0)
    await page.getByRole('button', { name: /Bash/ }).click()
    await page.getByText('red', { exact: true }).waitFor()
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
    expect(await page.title()).not.toContain('pwned')
  })

  test('a restarted daemon is noticed, and nothing is missing or doubled', async () => {
    await desk.go(page, '/jobs')
    await page.getByRole('link', { name: 'remove the cache' }).waitFor()
    const before = await page.getByRole('row').count()
    await page.getByText('● live').waitFor()
    await desk.world.killDaemon('SIGKILL')
    await page.getByText('No connection to the daemon').waitFor()
    // What is shown stays.
    expect(await page.getByRole('row').count()).toBe(before)
    await desk.world.startDaemon()
    await page.getByText('The daemon was restarted').waitFor()
    await page.getByText('● live').waitFor()
    await job('after the restart')
    await page.getByRole('link', { name: 'after the restart' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(before + 1)
  })

  test('the keyboard is enough', async () => {
    await desk.go(page, '/')
    // The second key counts only for a moment after the first: on a busy machine it may come too late.
    await vi.waitFor(async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('j')
      await page.getByRole('heading', { name: 'Jobs' }).waitFor({ timeout: 5000 })
    }, WAIT)
    await page.getByRole('link', { name: 'after the restart' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs\/job_/)
    // The address changes before the page does; until then, Esc would only leave the row.
    await page.getByRole('heading', { name: 'Jobs' }).waitFor({ state: 'detached' })
    await page.waitForFunction("['BODY', 'MAIN'].includes(document.activeElement.tagName)")
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/jobs$/)
    await page.goForward()
    await page.waitForURL(/\/jobs\/job_/)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('A name, an id').fill('costs')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/costs$/)
    await page.goBack()
    await page.waitForURL(/\/jobs\/job_/)
  })

  test('addresses of what does not exist say so', async () => {
    await desk.go(page, '/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV')
    await page.getByText('This does not exist.').waitFor()
    await desk.go(page, '/jobs/nonsense')
    await page.getByText('This address is not valid.').waitFor()
    await desk.go(page, '/nowhere')
    await page.getByText('There is no such page.').waitFor()
  })

  test('every page passes axe in light and dark, and fits a phone', async () => {
    const [run] = (await desk.world.api<{ items: Run[] }>('GET', '/api/runs?limit=1')).items
    const { items: conversations } = await desk.world.api<{ items: Conversation[] }>(
      'GET',
      '/api/conversations',
    )
    const { items: jobs } = await desk.world.api<{ items: { id: string }[] }>('GET', '/api/jobs')
    const [cycle] = await desk.watching.cycles()
    const pages = [
      '/',
      `/conversations/${conversations[0]?.id}`,
      `/jobs/${jobs[0]?.id}`,
      `/runs/${run?.id}`,
      `/cycles/${cycle?.id}`,
      '/conversations',
      '/jobs',
      '/watches',
      '/watches/web',
      '/sessions',
      `/sessions/${run?.session}`,
      '/costs',
      '/machine',
    ]
    const findings: string[] = []
    const phone = await desk.page('/', {
      viewport: { width: 390, height: 844 },
      colorScheme: 'light',
      bypassCSP: true,
    })
    const check = async (path: string, options: object) => {
      const wish = JSON.stringify({ resultTypes: ['violations'], ...options })
      const { violations } = (await phone.evaluate(`axe.run(document, ${wish})`)) as axe.AxeResults
      for (const { id, nodes } of violations)
        findings.push(`${path} ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
    }
    for (const path of pages) {
      await phone.emulateMedia({ colorScheme: 'light' })
      await desk.go(phone, path)
      await phone.locator('main h1').first().waitFor({ state: 'attached' })
      await phone.getByRole('status', { name: 'loading' }).first().waitFor({ state: 'detached' })
      await phone.addScriptTag({ content: axe.source })
      await check(path, {})
      await phone.emulateMedia({ colorScheme: 'dark' })
      await check(`${path} (dark)`, { runOnly: ['color-contrast'] })
      const broken = /NaN|\[object Object\]|Invalid Date/.exec(await phone.locator('main').innerText())
      if (broken) findings.push(`${path} shows ${broken[0]}`)
      const wide = Number(await phone.evaluate('document.documentElement.scrollWidth - innerWidth'))
      if (wide > 0) findings.push(`${path} is ${wide} px too wide`)
    }
    await phone.context().close()
    expect(findings).toEqual([])
  })
})
