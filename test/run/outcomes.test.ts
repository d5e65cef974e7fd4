/**
 * Each way a run can end that the real CLI has a part in. Ends that only Reprise decides are in test/engine/supervise,
 * limits of an account in outages.test.ts.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'
import type { Run } from '../../src/contract/run.ts'
import { until, World } from '../support/world.ts'

const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })
const works = (mark: string) => [
  bash(`touch ${mark}; until [ -e finished ]; do sleep 0.1; done`),
  { await: 'results' as const },
  { text: 'x' },
]
const ESCAPE = 'setsid sh -c "touch escaped; exec tail -f /dev/null" >/dev/null 2>&1 & sleep 0.3; ls'

let world: World
beforeAll(async () => {
  world = await World.create({
    name: 'outcomes',
    rules: [
      { when: '/^answer$/', reply: 'Fine.' },
      {
        when: '/^use tools$/',
        reply: [bash('ls'), { await: 'results' }, bash('ls -a'), { await: 'results' }, { text: 'x' }],
      },
      { when: '/^overflow$/', reply: [{ overflow: true }] },
      {
        when: '/^be refused$/',
        reply: [{ error: { status: 403, type: 'permission_error', message: 'no' } }],
      },
      { when: '/^take long$/', reply: works('long') },
      { when: '/^be cancelled$/', reply: works('short') },
      { when: '/^escape$/', reply: [bash(ESCAPE), { await: 'results' }, { text: 'ok' }] },
      { reply: 'You said: ${user}' },
    ],
  })
  await world.startDaemon()
})
afterAll(() => world.close())

type Request = Partial<CreateRun> & { prompt: string }
const ALLOW = { permissions: 'allow' } as const
it.each<[OutcomeName, Request, Partial<Run>]>([
  ['completed', { prompt: 'answer' }, { resultText: 'Fine.' }],
  ['turn-limit', { prompt: 'use tools', maxTurns: 1, ...ALLOW }, { attemptCount: 1 }],
  ['budget', { prompt: 'use tools', maxBudgetUsd: 0.000001, ...ALLOW }, {}],
  ['context-overflow', { prompt: 'overflow' }, { attemptCount: 1 }],
  ['auth', { prompt: 'be refused' }, {}],
])('%s', async (outcome, request, expected) => {
  expect(await world.run(request)).toMatchObject({ outcome, ...expected })
})

it('timed-out and cancelled, mid-tool: nothing is left running, and the session knows that it was interrupted', async () => {
  const late = await world.createRun({ prompt: 'take long', maxDurationMs: 4000, permissions: 'allow' })
  const { id } = await world.createRun({ prompt: 'be cancelled', permissions: 'allow' })
  await until(() => existsSync(join(world.workDir, 'short')), 'the tool')
  await world.api('POST', `/api/runs/${id}/cancel`)
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'cancelled', attemptCount: 1 })
  const next = await world.run({ prompt: 'and now?', sessionId: run.session! })
  expect(next).toMatchObject({ outcome: 'completed', resumed: true })
  expect(JSON.stringify(world.simulator.requests().at(-1)!.messages)).toContain('interrupted')
  expect(await world.settled(late.id)).toMatchObject({ outcome: 'timed-out', attemptCount: 1 })
  expect(world.processes()).toEqual([])
})

it('a process that leaves the process group does not outlive the run', async () => {
  const { id } = await world.createRun({ prompt: 'escape', permissions: 'allow' })
  const run = await world.settled(id)
  expect(run.outcome).toBe('completed')
  expect(existsSync(join(world.workDir, 'escaped'))).toBe(true)
  expect(world.processes()).toEqual([])
  const end = (await world.events(id)).find((event) => event.type === 'attempt-end')
  expect(end?.strays).toBeGreaterThan(0)
})
