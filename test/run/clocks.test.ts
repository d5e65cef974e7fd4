/**
 * The clock is set, or all processes are stopped, while real agents work and jobs wait. In tests that set the clock,
 * the daemon runs in the test's own process, with a clock that the test controls.
 */
import { it } from 'vitest'
import { startDaemon } from '../../src/daemon/start.ts'
import { createJob, jobEnds, jobIs } from '../support/jobs.ts'
import { killIfThere } from '../support/processes.ts'
import { until, World } from '../support/world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

// Both tests wait most of the time, so they run at once.
it.concurrent('set forward and back: working agents continue, and a waiting job waits as long as planned', async ({
  expect,
  onTestFinished,
}) => {
  const world = await World.create(
    {
      name: 'works and limits',
      rules: [
        { when: 'work', reply: [{ text: 'Working. ' }, { hold: 'gate' }, { text: 'Done.' }] },
        { when: 'wait', reply: [{ error: { status: 429, retryAfter: 100, times: 1 } }, 'Waited.'] },
      ],
    },
    { run: { idleTimeout: '30m', maxDuration: '40m' }, jobs: { backoff: '4s' } },
  )
  onTestFinished(() => world.close())
  let setByMs = 0
  const warnings: string[] = []
  const log = {
    info: () => {},
    warn: (_: object, message: string) => void warnings.push(message),
    error: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    redactWith: () => {},
  }
  const clock = {
    now: () => new Date(Date.now() + setByMs),
    monotonicMs: () => performance.now(),
  }
  const daemon = await startDaemon({ home: world.home, cwd: world.dir, env: world.env, log, clock })
  // The last one that is added is called first.
  onTestFinished(() => daemon.close())
  const set = async (toMs: number) => {
    const before = warnings.length
    setByMs = toMs
    await until(() => warnings.length > before, 'the clock to be followed')
  }

  const { id } = await world.createRun({ prompt: 'work' })
  await world.waitForEvent(id, (event) => event.type === 'text-delta' || event.type === 'text-end')
  for (const toMs of [HOUR, 2 * DAY, DAY]) await set(toMs)
  expect(await world.getRun(id)).toMatchObject({ state: 'running', attemptCount: 1 })

  const job = await createJob(world, { prompt: 'wait' })
  await jobIs(world, job.id, ({ state }) => state === 'waiting')
  for (const toMs of [2 * DAY, DAY]) await set(toMs)
  const ended = await jobEnds(world, job.id)
  expect(ended).toMatchObject({ state: 'completed', attemptCount: 2 })
  // The clock was a day ahead at both times.
  const [first, second] = ended.attempts
  const waitedMs = Date.parse(second?.startedAt ?? '') - Date.parse(first?.endedAt ?? '')
  expect(waitedMs).toBeGreaterThanOrEqual(4000)
  expect(waitedMs).toBeLessThan(HOUR)

  world.simulator.release('gate')
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(run.durationMs!).toBeLessThan(HOUR)
  expect(warnings.every((message) => message.startsWith('the clock was set'))).toBe(true)
})

it.concurrent('a SIGSTOP of daemon, keeper and agent does not count as silence', async ({
  expect,
  onTestFinished,
}) => {
  const world = await World.create(
    { name: 'holds', rules: [{ reply: [{ text: 'Working. ' }, { hold: 'gate' }, { text: 'Done.' }] }] },
    { run: { idleTimeout: '15s', termAfter: '1s', killAfter: '1s' } },
  )
  onTestFinished(() => world.close())
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'work' })
  await world.waitForEvent(id, (event) => event.type === 'text-delta' || event.type === 'text-end')
  const all = [...world.processes().map(({ pid }) => pid), world.daemonPid]
  for (const pid of all) killIfThere(pid, 'SIGSTOP')
  // That time passes is what is tested.
  await new Promise((resolve) => setTimeout(resolve, 17_000))
  for (const pid of all) killIfThere(pid, 'SIGCONT')
  await until(() => /the daemon was suspended/.test(world.log()), 'the daemon to look at its clock again')
  world.simulator.release('gate')
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
})
