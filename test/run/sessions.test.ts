/** New, resumed and refused sessions: what the model was sent, and what is stored, on the real CLI. */
import { readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { makeUnusable, transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const ECHO = { name: 'echo', rules: [{ reply: 'You said: ${user}' }] }

/** Everything the model could read in a request. */
const allText = (request: { messages: unknown }) => JSON.stringify(request.messages)

it('starts a new session with the prompt and nothing else, and stores its id before the process exists', async () => {
  world = await World.create({ name: 'hold', rules: [{ reply: [{ hold: 'gate' }, { text: 'Done.' }] }] })
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'first words' })
  await world.simulator.waitForHold('gate')

  const during = await world.getRun(id)
  expect(during).toMatchObject({ state: 'running', resumed: false, freshReason: 'first-run', carry: 'none' })
  const argv = readFileSync(`/proc/${agentPid()}/cmdline`, 'utf8').split('\0')
  expect(argv).toContain(`--session-id=${during.sessionId}`)
  expect(argv.some((arg) => arg.startsWith('--resume'))).toBe(false)
  expect(argv.join(' ')).not.toContain('first words')

  world.simulator.release('gate')
  const run = await world.settled(id)
  expect(run).toMatchObject({
    outcome: 'completed',
    resultText: 'Done.',
    attemptCount: 1,
    costEstimated: false,
  })
  expect(run.costUsd).toBeGreaterThan(0)
  expect(world.simulator.requests().map((r) => r.userText)).toEqual(['first words'])
  const events = await world.events(id)
  expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1))
  expect(events.at(-1)?.type).toBe('run-end')
})

function agentPid(): number {
  const agent = world.processes().find((p) => /claude/.test(p.command) && !/keeper/.test(p.command))
  if (!agent) throw new Error('no agent process')
  return agent.pid
}

it('resumes with only the new prompt; the model sees the earlier turn, from its cache, once', async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const first = await world.run({ prompt: 'remember the word heliotrope' })
  const second = await world.run({ prompt: 'what was the word?', sessionId: first.session! })

  expect(second).toMatchObject({ outcome: 'completed', resumed: true, freshReason: null, carry: 'none' })
  expect(second.sessionId).toBe(first.sessionId)
  const request = world.simulator.requests().at(-1)!
  expect(request.userText).toBe('what was the word?')
  expect(allText(request).split('remember the word heliotrope')).toHaveLength(3) // in the prompt, and echoed
  expect(second.usage.cacheReadTokens).toBeGreaterThan(first.usage.cacheReadTokens)
  // The CLI's own total is cumulative; ours is what this run added.
  const session = await world.api<{ costUsd: number; turns: number; resumes: number }>(
    'GET',
    `/api/sessions/${first.session}`,
  )
  expect(session.costUsd).toBeCloseTo(first.costUsd! + second.costUsd!, 10)
  expect(second.costUsd!).toBeLessThan(first.costUsd!)
  expect(session).toMatchObject({ turns: 2, resumes: 1 })
})

it("accepts the agent's own session id, which a run has as sessionId", async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const { session, sessionId } = await world.run({ prompt: 'hello' })
  expect(await world.run({ prompt: 'again', sessionId: sessionId! })).toMatchObject({
    session,
    resumed: true,
  })
  const followUp = { prompt: 'later', sessionId, inMs: 3_600_000 }
  expect(await world.api('POST', '/api/followups', followUp)).toMatchObject({ session })
})

it('resumes through a symlink to the same directory, starts a new session with the history in another one', async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const first = await world.run({ prompt: 'alpha' })
  await symlink(world.workDir, join(world.dir, 'link'))
  const same = await world.run({
    prompt: 'beta',
    workDir: join(world.dir, 'link'),
    sessionId: first.session!,
  })
  expect(same.resumed).toBe(true)

  await mkdir(join(world.dir, 'elsewhere'))
  const other = await world.run({
    prompt: 'gamma',
    workDir: join(world.dir, 'elsewhere'),
    sessionId: first.session!,
  })
  expect(other).toMatchObject({ resumed: false, freshReason: 'other-work-dir', carry: 'transcript' })
  const sent = allText(world.simulator.requests().at(-1)!)
  for (const text of ['alpha', 'You said: alpha', 'beta', 'You said: beta', 'gamma'])
    expect(sent).toContain(text)
})

it('starts a new session on request, with the history, and continues from it', async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const first = await world.run({ prompt: 'alpha' })
  const forced = await world.run({ prompt: 'beta', sessionId: first.session!, forceFreshSession: true })
  expect(forced).toMatchObject({ resumed: false, freshReason: 'forced', carry: 'transcript' })
  expect(forced.sessionId).not.toBe(first.sessionId)
  expect(allText(world.simulator.requests().at(-1)!)).toContain('You said: alpha')
  const next = await world.run({ prompt: 'gamma', sessionId: forced.session! })
  expect(next).toMatchObject({ resumed: true, sessionId: forced.sessionId })
})

it('starts a new session once, with the history, when the CLI refuses to resume', async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const first = await world.run({ prompt: 'alpha' })
  makeUnusable(transcriptOf(world.configDir, first.sessionId!))
  const second = await world.run({ prompt: 'beta', sessionId: first.session! })
  expect(second).toMatchObject({
    outcome: 'completed',
    resumed: false,
    freshReason: 'refused',
    carry: 'transcript',
    attemptCount: 2,
  })
  expect(second.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'session-missing'],
    [false, 'completed'],
  ])
  const requests = world.simulator.requests()
  expect(requests).toHaveLength(2)
  expect(allText(requests.at(-1)!)).toContain('You said: alpha')
  const third = await world.run({ prompt: 'gamma', sessionId: first.session! })
  expect(third).toMatchObject({ resumed: false, freshReason: 'refused', attemptCount: 1 })
})

it('answers two prompts given to one session at once, one after the other, and loses neither', async () => {
  world = await World.create({
    name: 'two',
    rules: [
      { when: 'one', reply: [{ hold: 'one' }, { text: 'answer one' }] },
      { reply: 'You said: ${user}' },
    ],
  })
  await world.startDaemon()
  const start = await world.run({ prompt: 'begin' })
  const [a, b] = await Promise.all([
    world.createRun({ prompt: 'one', sessionId: start.session! }),
    world.simulator
      .waitForHold('one')
      .then(() => world.createRun({ prompt: 'two', sessionId: start.session! })),
  ])
  expect((await world.getRun(b.id)).state).toBe('queued')
  world.simulator.release('one')
  const runs = [await world.settled(a.id), await world.settled(b.id)]
  expect(runs.map((r) => [r.outcome, r.resumed, r.sessionId])).toEqual([
    ['completed', true, start.sessionId],
    ['completed', true, start.sessionId],
  ])
  expect(world.simulator.requests().map((r) => r.userText)).toEqual(['begin', 'one', 'two'])
  const last = allText(world.simulator.requests().at(-1)!)
  for (const text of ['begin', 'one', 'answer one', 'two']) expect(last).toContain(text)
})

it('does not resume a session that another claude process has open', async () => {
  world = await World.create(ECHO)
  await world.startDaemon()
  const first = await world.run({ prompt: 'alpha' })
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8')
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  await mkdir(join(world.configDir, 'sessions'), { recursive: true })
  const record = join(world.configDir, 'sessions', `${process.pid}.json`)
  await writeFile(record, JSON.stringify({ pid: process.pid, sessionId: first.sessionId, procStart }))
  const second = await world.run({ prompt: 'beta', sessionId: first.session! })
  expect(second).toMatchObject({ resumed: false, freshReason: 'session-in-use', carry: 'transcript' })
  await rm(record)
  expect(await world.run({ prompt: 'gamma', sessionId: first.session! })).toMatchObject({ resumed: true })
})
