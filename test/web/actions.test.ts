/** What a person does on the page besides answering: real browser, real daemon, real agent, scripted model. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Conversation } from '../../src/contract/conversation.ts'
import type { Job } from '../../src/contract/job.ts'
import type { Watch } from '../../src/contract/watch.ts'
import { bash, results } from '../support/incident.ts'
import { createJob, jobEnds } from '../support/jobs.ts'
import { findBrowser, PATIENCE_MS } from './browser.ts'
import { Desk } from './desk.ts'

const PATIENTLY = { timeout: PATIENCE_MS }

const found = await findBrowser()

describe.skipIf('problem' in found)('on the page', () => {
  let desk: Desk
  let page: Page
  const inWorkDir = (name: string) => join(desk.world.workDir, name)

  beforeAll(async () => {
    if ('problem' in found) return
    desk = await Desk.open(found.browser, [
      { when: 'twice', reply: [bash('echo same'), results, bash('echo same'), results, 'Both done.'] },
      { when: 'write one', reply: [bash('echo one > one.txt'), results, 'Wrote one.'] },
      {
        when: 'break',
        reply: [bash('echo two > one.txt'), results, { hold: 'broken' }, 'never'],
      },
      { reply: 'You said: ${user}' },
    ])
    page = await desk.page()
  })
  afterAll(async () => {
    await desk?.close()
    expect(desk?.problems).toEqual([])
  })

  const titled = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
  const choose = async (label: string, word: string) => {
    await page.getByRole('button', { name: `${label}: More…` }).click()
    await page.getByRole('menuitem', { name: word }).click()
  }

  test('what is always allowed is asked once, and the record says so', async () => {
    const run = await desk.world.createRun({ prompt: 'Do it twice', permissions: 'ask-all' })
    await desk.go(page, '/')
    const row = page.getByRole('listitem').filter({ hasText: 'Do it twice' })
    await row.getByText('echo same').first().waitFor()
    await row.getByRole('button', { name: 'Always allow' }).click()
    expect((await desk.world.settled(run.id)).resultText).toBe('Both done.')
    const answers = (await desk.world.events(run.id)).filter(({ type }) => type === 'question-answer')
    expect(answers).toMatchObject([{ by: 'person' }, { by: 'policy', decision: 'allow' }])
    await desk.go(page, `/runs/${run.id}`)
    await page.getByText('answered “allow always”').waitFor()
  })

  test('a session is continued, forked, exported, imported as a copy, moved, and deleted', async () => {
    const run = await desk.world.run({ prompt: 'My number is 4711.', permissions: 'allow' })
    await desk.go(page, `/sessions/${run.session}`)
    await page.getByRole('button', { name: 'Continue…' }).click()
    await page.getByLabel('Prompt').fill('Which number?')
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await page.waitForURL(/\/runs\/run_/)
    await titled(/Which number\?\s*completed/)
    const sent = desk.world.simulator
      .requests()
      .findLast(({ userText }) => userText.includes('Which number?'))
    expect(JSON.stringify(sent)).toContain('My number is 4711.')

    await page.getByRole('link', { name: run.sessionId?.slice(0, 8) ?? '' }).click()
    await page.getByRole('button', { name: 'Fork' }).click()
    await page.getByText('fork of').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const file = await (await download).path()
    expect(readFileSync(file).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))

    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByLabel('The exported file').setInputFiles(file)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('button', { name: 'Import as a copy' }).click()
    await page.getByText('imported', { exact: true }).waitFor()

    mkdirSync(join(desk.world.dir, 'elsewhere'))
    await choose('Session', 'Move to another directory…')
    await page.getByLabel('Directory', { exact: true }).fill(join(desk.world.dir, 'elsewhere'))
    await page.getByRole('button', { name: 'What would happen?' }).click()
    await page.getByRole('button', { name: 'Move now' }).click()
    await page.locator('dl').getByText('/elsewhere').first().waitFor()
    const id = page.url().split('/').at(-1)
    await choose('Session', 'Delete…')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await titled('Sessions')
    expect((await desk.world.request('GET', `/api/sessions/${id}`)).status).toBe(404)
  })

  test('a conversation is forked at a message, and deleted', async () => {
    const chat = await desk.world.api<Conversation>('POST', '/api/conversations', {
      workDir: desk.world.workDir,
    })
    await desk.go(page, `/conversations/${chat.id}`)
    for (const text of ['First thing', 'Second thing']) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.getByRole('textbox', { name: 'Message' }).press('Control+Enter')
      await page.getByText(new RegExp(`You said: .*${text}`)).waitFor()
      // The turn has ended: what is sent before would be said to the agent at work.
      await page.getByRole('button', { name: 'Send' }).waitFor()
    }
    await page.getByText('resumed session').waitFor()
    await page.getByRole('article', { name: 'You' }).first().hover()
    await page.getByRole('button', { name: 'Fork here' }).first().click()
    await page.waitForURL((url) => !url.href.includes(chat.id))
    // The address changes before the page does.
    await expect.poll(() => page.getByText('Second thing').count(), PATIENTLY).toBe(0)
    await page.getByText('You said: First thing').waitFor()
    expect(await page.getByText('Second thing').count()).toBe(0)
    await page.getByText(/Resumes session/).waitFor()
    await choose('Conversation', 'Delete…')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await titled('Conversations')
    await page.getByRole('link', { name: 'First thing' }).first().waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'First thing' }).count(), PATIENTLY).toBe(1)
  })

  test('a retried job is followed without a reload; its files are compared, restored and rewound', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', desk.world.workDir, '-c', 'user.name=u', '-c', 'user.email=u@x', ...args], {
        env: { ...desk.world.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      })
    git('init', '-q', '-b', 'main')
    writeFileSync(inWorkDir('one.txt'), 'one\n')
    git('add', '.')
    git('commit', '-qm', 'first')
    const job = await createJob(desk.world, {
      prompt: 'Please break it',
      permissions: 'allow',
      checkpoints: true,
    })
    await desk.go(page, `/jobs/${job.id}`)
    const log = page.getByRole('log', { name: 'Transcript' })
    await log.getByText('echo two').waitFor()
    await desk.world.waitForEvent(job.runId, ({ type }) => type === 'tool-end')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByText('○ cancelled').first().waitFor()
    await page.getByRole('button', { name: 'Retry, resume' }).click()
    await log.getByText('You said:').waitFor()
    await page.getByText('✓ completed').first().waitFor()
    // What was read before is there once.
    expect(await log.getByRole('button', { name: /Bash/ }).count()).toBe(1)

    await page.getByRole('cell', { name: 'two' }).waitFor()
    await page.getByLabel('To checkpoint').selectOption('1')
    await page.getByRole('button', { name: 'Restore 1…' }).click()
    await page.getByRole('button', { name: 'Restore 1 now' }).click()
    await page.getByText('restored a checkpoint').waitFor()
    expect(readFileSync(inWorkDir('one.txt'), 'utf8')).toBe('one\n')
    await page.getByRole('button', { name: 'Rewind to 1…' }).click()
    await page.getByRole('button', { name: 'Rewind to 1 now' }).click()
    await page.getByText('rewound to a checkpoint').waitFor()
  })

  test('a watch is created, edited in every part, and removed', async () => {
    await desk.go(page, '/watches')
    await page.getByRole('button', { name: 'New watch' }).click()
    await page.getByLabel('Name', { exact: true }).fill('disk')
    await page.getByLabel('Prompt').fill('Is there room?')
    await page.getByLabel('Directory').fill(desk.world.workDir)
    await page.getByLabel('Every', { exact: true }).fill('soon')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Every: expected a duration').waitFor()
    await page.getByLabel('Every', { exact: true }).fill('2h')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'disk' }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await page.getByLabel('Fires').selectOption('cron')
    await page.getByLabel('Cron').fill('0 7 * * 1-5')
    await page.getByLabel('Highest tier').selectOption('2')
    await page.getByLabel('Budget of a day').fill('1.5')
    await page.getByLabel('Memory').selectOption('persistent')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('0 7 * * 1-5').first().waitFor()
    await expect
      .poll(() => desk.watching.watch('disk'), PATIENTLY)
      .toMatchObject({ maxTier: 2, maxBudgetUsdPerDay: 1.5, memory: 'persistent', prompt: 'Is there room?' })
    expect((await desk.watching.watch('disk')).everyMs).toBeUndefined()
    // Among what is parked.
    await desk.go(page, '/')
    await page.getByRole('list', { name: 'Parked' }).getByRole('link', { name: 'disk' }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await page.getByLabel('Budget of a day').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('dialog')
      .waitFor({ state: 'detached' })
      .catch(() => {})
    await expect
      .poll(async () => (await desk.watching.watch('disk')).maxBudgetUsdPerDay, PATIENTLY)
      .toBeUndefined()
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('There are no watches yet').waitFor()
    expect((await desk.world.api<{ items: Watch[] }>('GET', '/api/watches')).items).toEqual([])
  })

  test('more tabs than a browser has connections are all live, also after the first one is closed', async () => {
    const first = await desk.page()
    const others = await Promise.all(Array.from({ length: 8 }, () => first.context().newPage()))
    for (const tab of others) await desk.go(tab, '/')
    const ask = (prompt: string) => createJob(desk.world, { prompt, permissions: 'ask-all' })
    const shown = (prompt: string) =>
      Promise.all(
        others.map((tab) => tab.getByRole('listitem').filter({ hasText: prompt }).first().waitFor()),
      )
    const one = await ask('twice, please')
    await shown('twice, please')
    await first.close()
    const two = await ask('twice, again')
    await shown('twice, again')
    await others[0]?.context().close()
    for (const { id } of [one, two]) await desk.world.api<Job>('POST', `/api/jobs/${id}/cancel`)
    for (const { id } of [one, two]) await jobEnds(desk.world, id)
  })
})
