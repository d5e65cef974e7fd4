/**
 * New, resumed and refused sessions: what the model was sent, and what is stored, on the real CLI. Which session is
 * resumed at all is in test/engine/path/prepare.test.ts and run-sessions.test.ts.
 */
import { readFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeUnusable, transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await World.create({
    name: 'sessions',
    rules: [
      { when: '/^first words$/', reply: [{ hold: 'gate' }, { text: 'Done.' }] },
      { reply: 'You said: ${user}' },
    ],
  })
  await world.startDaemon()
})
afterAll(() => world.close())

/** Everything the model could read in a request. */
const allText = (request: { messages: unknown }) => JSON.stringify(request.messages)

it('starts a new session with the prompt and nothing else, and stores its id before the process exists', async () => {
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
  const sent = world.simulator.requests().filter((r) => r.sessionId === run.sessionId)
  expect(sent.map((r) => r.userText)).toEqual(['first words'])
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

it('resumes through a symlink to the same directory', async () => {
  const first = await world.run({ prompt: 'alpha' })
  const link = join(world.dir, 'link')
  await symlink(world.workDir, link)
  const same = await world.run({ prompt: 'beta', workDir: link, sessionId: first.session! })
  expect(same).toMatchObject({ resumed: true, sessionId: first.sessionId })
  expect(allText(world.simulator.requests().at(-1)!)).toContain('You said: alpha')
})

it('starts a new session once, with the history, when the CLI refuses to resume', async () => {
  const first = await world.run({ prompt: 'alpha' })
  const before = world.simulator.requests().length
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
  const requests = world.simulator.requests().slice(before)
  expect(requests).toHaveLength(1)
  expect(allText(requests[0]!)).toContain('You said: alpha')
})
