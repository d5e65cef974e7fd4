/** A disk that refuses writes: clear errors, nothing half-created, and work continues when there is room again. */
import { execFileSync } from 'node:child_process'
import { afterEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import { REPRISE, until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const MIB = 1 << 20

it('refuses requests that it cannot store, completely, and continues with the others', async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  await world.startDaemon({ fileSizeLimit: 4 * MIB })
  const response = await world.request('POST', '/api/runs', {
    prompt: 'x'.repeat(6 * MIB),
    workDir: world.workDir,
  })
  expect(response.status).toBe(507)
  const body = (await response.json()) as { error: { code: string; message: string; hint: string } }
  expect(body.error).toMatchObject({ code: 'home-unusable', hint: expect.stringContaining('disk space') })
  expect(await world.api<{ items: unknown[] }>('GET', '/api/runs')).toMatchObject({ items: [] })

  expect(await world.run({ prompt: 'small' })).toMatchObject({ outcome: 'completed', resultText: 'Fine.' })
})

it('a daemon whose disk takes nothing at its start reports it and exits; with room, the next one starts', async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  const start = world.startDaemon({ fileSizeLimit: 64 * 1024 })
  await expect(start).rejects.toThrow(/ended with 1:\n.*cannot store: .*\n.*Free disk space/)
  expect(world.processes()).toEqual([])
  await world.startDaemon()
  expect(await world.run({ prompt: 'small' })).toMatchObject({ outcome: 'completed' })
})

it('a disk that is full while an agent works: the status says so, and the run that output may be lost', async () => {
  world = await World.create({ name: 'slow', rules: [{ reply: ['Half.', { hold: 'gate' }, ' Whole.'] }] })
  await world.configure({ run: { hangAfterResult: '1s', termAfter: '1s', killAfter: '1s' } })
  await world.startDaemon({ fileSizeLimit: 512 * MIB })
  const { id } = await world.createRun({ prompt: 'go' })
  await world.simulator.waitForHold('gate')
  const limitFiles = (limit: string) =>
    execFileSync('prlimit', ['--pid', String(world.daemonPid), `--fsize=${limit}:`])
  limitFiles('1')
  world.simulator.release('gate')
  const refused = () => world.api<Status>('GET', '/api/status').then((status) => status.cannotStore)
  expect(await until(refused, 'the refusal')).toMatchObject({ why: expect.stringContaining('cannot store') })
  const status = execFileSync(REPRISE, ['status'], { env: world.env, encoding: 'utf8' })
  expect(status).toMatch(/nothing could be stored for .*: cannot store/)

  limitFiles(String(512 * MIB))
  expect(await world.settled(id)).toMatchObject({
    outcome: 'completed',
    resultText: ' Whole.',
    attemptCount: 1,
  })
  const notes = (await world.events(id)).flatMap((event) => (event.type === 'note' ? [event.text] : []))
  expect(notes).toContainEqual(expect.stringMatching(/^Nothing could be stored from .* may be lost\.$/))
  expect(await refused()).toBeNull()
})

it('accepts a prompt of megabytes, and one that begins with dashes, unchanged', async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  await world.startDaemon()
  const long = (bytes: number) => `${'lorem ipsum '.repeat(bytes / 12)}the end`
  const run = await world.run({ prompt: long(2 * MIB), model: 'sonnet' })
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(world.simulator.requests().at(-1)?.userText).toBe(long(2 * MIB))
  // Five megabytes exceed the window of any model: the prompt is delivered anyway, and the agent refuses it with a
  // reason.
  const tooLong = await world.run({ prompt: long(5 * MIB), model: 'sonnet' })
  expect(tooLong).toMatchObject({
    outcome: 'context-overflow',
    message: 'Prompt is too long',
    attemptCount: 1,
  })

  const dashes = '--settings=/tmp/evil.json --dangerously-skip-permissions'
  expect(await world.run({ prompt: dashes })).toMatchObject({ outcome: 'completed' })
  expect(world.simulator.requests().at(-1)?.userText).toBe(dashes)
})
