/** A purpose that is not Reprise's own, in the real daemon on the real CLI: it survives kill -9 like any other. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import { startReceiver } from '../notify/receiver.ts'
import { until, World } from '../support/world.ts'

const DAEMON = resolve(import.meta.dirname, '../support/digest/daemon.ts')

let world: World
afterEach(() => world.close())

const waitsFor = (file: string) => `touch begun; until [ -e ${file} ]; do sleep 0.05; done; echo through`
const start = () => world.startDaemon({ program: [process.execPath, DAEMON] })
const runs = async () => (await world.api<Page<Run>>('GET', '/api/runs')).items

it('keeps its context, budget and ending when the daemon is killed while its agent works', async () => {
  world = await World.create({
    name: 'digest',
    rules: [
      {
        when: { user: 'the digest of news' },
        reply: [
          { tool: 'Bash', input: { command: waitsFor('finished'), description: 'work' } },
          { await: 'results' },
          { text: 'fresh news' },
        ],
      },
      {
        when: { user: 'the digest of weather' },
        reply: [
          { tool: 'Bash', input: { command: waitsFor('never'), description: 'work' } },
          { await: 'results' },
          { text: 'fresh weather' },
        ],
      },
      { reply: [{ text: 'published' }] },
    ],
  })
  const receiver = await startReceiver()
  await world.configure({ webhooks: { allow: ['127.0.0.1'] } })
  const digest = { topic: 'news', before: 'old news', maxTokens: 1_000_000, webhook: receiver.url }
  Object.assign(world.env, { DIGEST: JSON.stringify(digest), WORK_DIR: world.workDir })
  await start()
  await until(() => existsSync(join(world.workDir, 'begun')), 'the tool')
  await world.killDaemon()
  await start()
  await writeFile(join(world.workDir, 'finished'), '')

  const [told] = await receiver.received(1)
  expect(JSON.parse(String(told?.body))).toMatchObject({
    event: 'done',
    chain: { message: 'the digest of news: fresh news' },
  })
  await until(async () => (await runs()).filter(({ state }) => state === 'settled').length === 2, 'both runs')
  const [publish, wrote] = await runs()
  expect(wrote).toMatchObject({ outcome: 'completed', attemptCount: 1, carry: 'transcript' })
  expect(publish).toMatchObject({ outcome: 'completed', prompt: 'Publish this: fresh news', resumed: true })
  const said = world.simulator.requests().map(({ userText }) => userText)
  expect(said.filter((text) => text?.includes('You write the digest of news'))).not.toEqual([])
  expect(said.filter((text) => text?.includes('old news'))).not.toEqual([])
  expect(receiver.deliveries).toHaveLength(1)

  await world.killDaemon()
  world.env.DIGEST = JSON.stringify({ ...digest, topic: 'weather', maxTokens: 1 })
  await start()
  const [, failed] = await receiver.received(2)
  expect(JSON.parse(String(failed?.body))).toMatchObject({ event: 'failed', chain: { state: 'budget' } })
  expect(await runs()).toHaveLength(3)
})
