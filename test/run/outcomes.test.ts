/** Each way a run can end, on the real CLI. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

async function begin(rules: ScenarioInput['rules'], config: object = {}): Promise<void> {
  world = await World.create({ name: 'outcome', rules }, config)
  await world.startDaemon()
}

const LOOP = 'until [ -e finished ]; do sleep 0.1; done'
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

it('completed', async () => {
  await begin([{ reply: 'Fine.' }])
  expect(await world.run({ prompt: 'go' })).toMatchObject({ outcome: 'completed', resultText: 'Fine.' })
})

it('turn-limit', async () => {
  await begin([
    { reply: [bash('ls'), { await: 'results' }, bash('ls -a'), { await: 'results' }, { text: 'x' }] },
  ])
  expect(await world.run({ prompt: 'go', maxTurns: 1, permissions: 'allow' })).toMatchObject({
    outcome: 'turn-limit',
    attemptCount: 1,
  })
})

it('budget', async () => {
  await begin([
    { reply: [bash('ls'), { await: 'results' }, bash('ls -a'), { await: 'results' }, { text: 'x' }] },
  ])
  expect(await world.run({ prompt: 'go', maxBudgetUsd: 0.000001, permissions: 'allow' })).toMatchObject({
    outcome: 'budget',
  })
})

it('context-overflow', async () => {
  await begin([{ reply: [{ overflow: true }] }])
  expect(await world.run({ prompt: 'go' })).toMatchObject({ outcome: 'context-overflow', attemptCount: 1 })
})

it('auth', async () => {
  await begin([{ reply: [{ error: { status: 403, type: 'permission_error', message: 'no' } }] }])
  expect(await world.run({ prompt: 'go' })).toMatchObject({ outcome: 'auth' })
})

it('rate-limited: waits until the limit resets, and says so, until it is cancelled', async () => {
  world = await World.create({ name: 'limit', rules: [{ reply: [{ rateLimit: { resetsIn: '2h' } }] }] })
  // The CLI reports reset times only with a subscription.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  await world.startDaemon()
  const before = Date.now()
  const { id } = await world.createRun({ prompt: 'go' })
  await world.waitForEvent(id, (event) => event.type === 'attempt-end')
  const run = await world.getRun(id)
  expect(run).toMatchObject({
    state: 'queued',
    attemptCount: 1,
    message: expect.stringContaining('rate limit'),
  })
  const resetsAt = Date.parse(run.attempts[0]?.outcome?.resetsAt ?? '')
  expect(resetsAt).toBeGreaterThanOrEqual(before + 7_200_000)
  expect(resetsAt).toBeLessThan(Date.now() + 7_201_000)
  expect(Date.parse(run.notBefore ?? '')).toBeGreaterThanOrEqual(resetsAt)
  expect(run.attempts[0]?.outcome).toMatchObject({ name: 'rate-limited', apiStatus: 429 })
  await world.api('POST', `/api/runs/${id}/cancel`)
  expect(await world.settled(id)).toMatchObject({ outcome: 'cancelled', attemptCount: 1 })
  // The CLI does not try again by itself.
  expect(world.simulator.requests()).toHaveLength(1)
})

it('timed-out, mid-tool, with nothing left running', async () => {
  await begin([{ reply: [bash(`touch started; ${LOOP}`), { await: 'results' }, { text: 'x' }] }])
  const run = await world.run({ prompt: 'go', maxDurationMs: 4000, permissions: 'allow' })
  expect(run).toMatchObject({ outcome: 'timed-out', attemptCount: 1 })
  expect(world.processes()).toEqual([])
})

it('timed-out by silence', async () => {
  await begin([{ reply: [{ text: 'Well, ' }, { hold: 'never' }, { text: 'x' }] }], {
    run: { idleTimeout: '6s', termAfter: '1s', killAfter: '1s' },
  })
  expect(await world.run({ prompt: 'go' })).toMatchObject({
    outcome: 'timed-out',
    message: expect.stringContaining('nothing'),
  })
})

it('cancelled, mid-tool: the session can be continued and knows that it was interrupted', async () => {
  await begin([
    { when: 'go', times: 1, reply: [bash(`touch started; ${LOOP}`), { await: 'results' }, { text: 'x' }] },
    { reply: 'You said: ${user}' },
  ])
  const { id } = await world.createRun({ prompt: 'go', permissions: 'allow' })
  await until(() => world.processes().some((p) => p.command.includes('finished')), 'the tool')
  await world.api('POST', `/api/runs/${id}/cancel`)
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'cancelled', attemptCount: 1 })
  expect(world.processes()).toEqual([])
  const next = await world.run({ prompt: 'and now?', sessionId: run.session! })
  expect(next).toMatchObject({ outcome: 'completed', resumed: true })
  expect(JSON.stringify(world.simulator.requests().at(-1)!.messages)).toContain('interrupted')
})

it('cancelled, while it waits in the queue', async () => {
  await begin([{ reply: [{ hold: 'gate' }, { text: 'x' }] }], { run: { concurrency: 1 } })
  const first = await world.createRun({ prompt: 'go' })
  await world.simulator.waitForHold('gate')
  const second = await world.createRun({ prompt: 'later' })
  await world.api('POST', `/api/runs/${second.id}/cancel`)
  expect(await world.settled(second.id)).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  world.simulator.release('gate')
  expect(await world.settled(first.id)).toMatchObject({ outcome: 'completed' })
  expect(world.simulator.requests()).toHaveLength(1)
})

it('crashed, when the agent dies repeatedly, after a limited number of attempts', async () => {
  world = await World.create({ name: 'none', rules: [{ reply: 'x' }] })
  const fake = join(world.dir, 'claude-that-dies')
  await writeFile(
    fake,
    '#!/bin/sh\ncase $1 in --version) echo 9.9.9;; --help) echo " --input-format --output-format --resume --session-id";; *) kill -9 $$;; esac\n',
  )
  await chmod(fake, 0o755)
  await world.configure({ agents: { claude: { command: fake } } })
  await world.startDaemon()
  const run = await world.run({ prompt: 'go', maxResumes: 1 })
  expect(run).toMatchObject({ outcome: 'crashed', attemptCount: 2 })
  expect(run.message).toContain('signal 9')
})

it('a process that hangs after its result has completed', async () => {
  world = await World.create({ name: 'none', rules: [{ reply: 'x' }] }, {})
  const fake = join(world.dir, 'claude-that-hangs')
  await writeFile(
    fake,
    `#!/bin/sh
case $1 in --version) echo 9.9.9; exit;; --help) echo " --input-format --output-format --resume --session-id"; exit;; esac
echo '{"type":"result","subtype":"success","is_error":false,"result":"all done","terminal_reason":"completed"}'
trap '' TERM
while :; do sleep 0.1; done
`,
  )
  await chmod(fake, 0o755)
  await world.configure({
    agents: { claude: { command: fake } },
    run: { hangAfterResult: '300ms', termAfter: '200ms', killAfter: '1s' },
  })
  await world.startDaemon()
  const run = await world.run({ prompt: 'go' })
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'all done', attemptCount: 1 })
  expect(world.processes()).toEqual([])
})

it('a process that leaves the process group does not outlive the run', async () => {
  await begin([
    {
      reply: [
        bash('setsid sh -c "touch escaped; exec tail -f /dev/null" >/dev/null 2>&1 & sleep 0.3; ls'),
        { await: 'results' },
        { text: 'ok' },
      ],
    },
  ])
  const { id } = await world.createRun({ prompt: 'go', permissions: 'allow' })
  const run = await world.settled(id)
  expect(run.outcome).toBe('completed')
  expect(world.processes()).toEqual([])
  const end = (await world.events(id)).find((e) => e.type === 'attempt-end')
  expect(end).toMatchObject({ strays: expect.any(Number) })
  expect((end as { strays: number }).strays).toBeGreaterThan(0)
})
