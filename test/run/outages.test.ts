/**
 * Outages and limits on the real CLI: the model server refuses connections, or reports that the account is used up, and
 * all runs continue in their own sessions afterwards. With REPRISE_TEST_ALL: for a whole minute, and with twenty runs.
 */
import { afterEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import type { Obstacle } from '../../src/contract/obstacle.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import { createCli } from '../cli/cli.ts'
import { Chat } from '../support/chat.ts'
import { FIXED, report, results, TASK } from '../support/incident.ts'
import { createJob, jobEnds, jobIs, runJob } from '../support/jobs.ts'
import { until, World } from '../support/world.ts'

const ALL = process.env.REPRISE_TEST_ALL !== undefined
const PATIENT = 60_000
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

let world: World
afterEach(() => world.close())

const status = () => world.api<Status>('GET', '/api/status')
const obstacle = (fits: (open: Obstacle) => boolean, what: string) =>
  until(async () => (await status()).obstacles.find(fits), what, PATIENT)

/** How often a text occurs in the newest history that the model was sent in a session. */
function countIn(sessionId: string | null, text: string): number {
  const last = world.simulator.requests({ kind: 'main' }).findLast((r) => r.sessionId === sessionId)
  return JSON.stringify(last?.messages ?? []).split(text).length - 1
}

it('an outage: mixed runs wait without processes, across a kill of the daemon, and each continues in its session', async () => {
  world = await World.create(
    {
      name: 'outage',
      rules: [
        {
          when: '/^work on it$/',
          reply: [bash('echo once >> log'), { await: 'results' }, { hold: 'gate' }, 'never'],
        },
        { when: '/^hold the line$/', reply: [{ cut: { times: 2 } }, 'Still here.'] },
        { when: { user: 'tier 1 of' }, reply: [report(FIXED), results, { text: 'looked' }] },
        { when: 'You were interrupted', reply: 'Went on.' },
        { reply: 'Answered.' },
      ],
    },
    { jobs: { backoff: '200ms', perWorkDir: 20 }, run: { concurrency: 2, termAfter: '1s', killAfter: '1s' } },
  )
  await world.startDaemon()
  const chat = await Chat.create(world)
  const before = await chat.say('the first question')
  const chats = await Promise.all(Array.from({ length: ALL ? 6 : 1 }, () => Chat.create(world)))
  await Promise.all(chats.map((other) => other.say('hello')))
  const regretted = await Chat.create(world)

  // The connection is lost before the answer comes, and again when the CLI tries once more by itself.
  const lost = await world.run({ prompt: 'hold the line' })
  expect(lost.attempts.map(({ outcome }) => outcome?.name)).toEqual(['outage', 'completed'])
  expect(new Set(lost.attempts.map(({ agentSessionId }) => agentSessionId)).size).toBe(1)
  expect(countIn(lost.sessionId, 'hold the line')).toBe(1)

  const atWork = await createJob(world, { prompt: 'work on it', permissions: 'allow', maxResumes: 0 })
  await world.simulator.waitForHold('gate')
  await world.simulator.goAway()
  const turn = await chat.post('the second question')
  const nextTurn = await chat.post('the third question')
  const takenBack = await regretted.post('never mind')
  const turns = await Promise.all(chats.map((other, n) => other.post(`the question in chat ${n}.`)))
  const jobs = await Promise.all(
    Array.from({ length: ALL ? 7 : 2 }, (_, n) =>
      createJob(world, { prompt: `the job ${n}.`, maxResumes: 0 }),
    ),
  )
  const tiers = await Promise.all(
    Array.from({ length: ALL ? 3 : 1 }, () => world.createRun({ prompt: TASK, tier: 1 })),
  )
  await world.api('POST', '/api/followups', { prompt: 'and later?', runId: before.id, inMs: 1000 })
  /** What each run was asked. */
  const asked = new Map([
    [atWork.runId, 'work on it'],
    [turn.id, 'the second question'],
    ...turns.map(({ id }, n) => [id, `the question in chat ${n}.`] as const),
    ...jobs.map(({ runId }, n) => [runId, `the job ${n}.`] as const),
    ...tiers.map(({ id }) => [id, TASK] as const),
  ])

  // All of them wait, and also the follow-up, which has become a run by then.
  const waits = (open: Obstacle) => open.waitingCount + (open.probe ? 1 : 0) >= asked.size
  const open = await obstacle((o) => waits(o) && o.failures >= 2, 'all to wait')
  expect(open).toMatchObject({
    kind: 'outage',
    agents: ['claude'],
    baseUrl: world.simulator.url,
    model: null,
  })
  expect(open.neverAnswered).toBe(false)
  // It has this reason unless it is the run that probes.
  await until(
    async () => {
      const { state, message } = await world.getRun(turn.id)
      return state === 'queued' && message?.includes('outage since')
    },
    'the turn to say why it waits',
    PATIENT,
  )
  const behind = new RegExp(`^waits for run ${turn.id}, .*: outage since`)
  await until(async () => behind.test((await world.getRun(nextTurn.id)).message ?? ''), 'a reason', PATIENT)
  expect(await jobIs(world, jobs[1]!.id, ({ state }) => state === 'waiting')).toMatchObject({
    message: expect.stringMatching(/outage.*continues automatically/),
  })

  await regretted.drop(0)
  expect(await world.settled(takenBack.id)).toMatchObject({ outcome: 'cancelled' })

  await world.killDaemon()
  await world.startDaemon()
  await until(() => world.processes().length === 0, 'no process, between two tries', PATIENT)
  const longEnough = (o: Obstacle) => !ALL || Date.now() - Date.parse(o.since) > 60_000
  await obstacle((o) => o.failures > open.failures && longEnough(o), 'another try')
  const refused = world.simulator.requests().length
  await world.simulator.comeBack()

  const { items } = await world.api<{ items: RunDetail[] }>('GET', '/api/runs?limit=50')
  for (const { id } of items)
    expect(await world.settled(id)).toMatchObject({
      outcome: id === takenBack.id ? 'cancelled' : 'completed',
    })
  expect(
    world.simulator
      .requests()
      .slice(refused)
      .filter(({ status: code }) => code !== 200),
  ).toEqual([])
  for (const [id, text] of asked) {
    const run = await world.getRun(id)
    expect(new Set(run.attempts.map(({ agentSessionId }) => agentSessionId)).size).toBe(1)
    expect(run.attempts.every(({ resumed, freshReason }) => resumed || freshReason === 'first-run')).toBe(
      true,
    )
    expect(countIn(run.sessionId, text), text).toBe(1)
  }
  const job = await world.getRun(atWork.runId)
  expect(job.attempts.map((a) => a.outcome?.name)).toEqual(
    expect.arrayContaining(['outage', 'completed'] as const),
  )
  expect((await world.getRun(turn.id)).sessionId).toBe(before.sessionId)
  for (const text of ['the first question', 'the third question', 'and later?'])
    expect(countIn(before.sessionId, text), text).toBe(1)
  expect(JSON.stringify(world.simulator.requests())).not.toContain('never mind')
  expect((await status()).obstacles).toEqual([])
}, 240_000)

it('a limit: the other runs do not meet it; one probes when a person continues it, and all continue', async () => {
  world = await World.create(
    {
      name: 'limit',
      rules: [
        { times: 1, reply: [{ rateLimit: { resetsIn: '1h', times: 1 } }, 'never'] },
        { reply: 'Done.' },
      ],
    },
    { run: { concurrency: 4, termAfter: '1s', killAfter: '1s' } },
  )
  // The CLI reports reset times and quotas only with a subscription.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  await world.startDaemon()
  const before = Date.now()
  const first = await world.createRun({ prompt: 'first' })
  const open = await obstacle(({ kind }) => kind === 'limit', 'the limit')
  await world.waitForEvent(first.id, (event) => event.type === 'attempt-end')
  const waiting = await world.getRun(first.id)
  expect(waiting).toMatchObject({
    state: 'queued',
    attemptCount: 1,
    message: expect.stringContaining('rate limit'),
    attempts: [{ outcome: { name: 'rate-limited', apiStatus: 429, resetsAt: open.resetsAt } }],
  })
  const resetsAt = Date.parse(open.resetsAt ?? '')
  expect(resetsAt).toBeGreaterThanOrEqual(before + 3_600_000)
  expect(resetsAt).toBeLessThan(Date.now() + 3_601_000)
  expect(Date.parse(waiting.notBefore ?? '')).toBeGreaterThanOrEqual(resetsAt)
  const count = ALL ? 19 : 5
  const others = await Promise.all(
    Array.from({ length: count }, (_, n) => world.createRun({ prompt: `run ${n}` })),
  )
  const full = await obstacle(({ waitingCount }) => waitingCount === count + 1, 'all to wait')
  expect(full).toMatchObject({ resetsAt: open.resetsAt, probe: null })
  expect((await status()).quotas).toMatchObject([
    { agents: ['claude'], status: 'rejected', windows: [{ name: 'five_hour', used: 1 }] },
  ])
  const cli = createCli(world.env)
  const { stdout } = await cli.inside(['status'])
  expect(stdout).toMatch(/^limit {5}claude.*\n.*resets at .*\d\d:\d\d:\d\d.*; \d+ runs waiting: run_/m)
  expect(stdout).toMatch(/^quota {5}claude: five_hour 100% used/m)
  expect(world.simulator.requests({ kind: 'main' })).toHaveLength(1)
  expect((await cli.inside(['runs', 'continue', first.id])).stdout).toContain('continues now')
  for (const { id } of [first, ...others])
    expect(await world.settled(id)).toMatchObject({ outcome: 'completed' })
  const [limited, probe, ...rest] = world.simulator.requests({ kind: 'main' })
  expect([limited?.status, limited?.sessionId]).toEqual([429, probe?.sessionId])
  expect(rest).toHaveLength(count)
  expect((await world.getRun(others.at(-1)!.id)).attemptCount).toBe(1)
  await cli.close()
}, 240_000)

it('a connection that never worked: reported within seconds, paused after a few tries, continued once it works', async () => {
  world = await World.create({ name: 'late', rules: [{ reply: 'Here.' }] }, { jobs: { backoff: '100ms' } })
  // The CLI's default settings, with which it would retry for minutes.
  delete world.env.CLAUDE_CODE_MAX_RETRIES
  await world.simulator.goAway()
  await world.startDaemon()
  const chat = await Chat.create(world)
  const turn = await chat.post('anybody there?')
  const told = await world.waitForEvent(
    turn.id,
    (event) => event.type === 'note' && event.text.includes('the configuration is probably wrong'),
  )
  // The CLI would retry ten times, which takes minutes.
  const retries = (await world.events(turn.id)).flatMap((e) => (e.type === 'retry-wait' ? [e.number] : []))
  expect(Math.max(...retries)).toBeLessThan(6)
  expect(told).toMatchObject({ text: expect.stringContaining(`${world.simulator.url} has never answered`) })
  expect((await status()).obstacles).toMatchObject([{ neverAnswered: true }])
  const paused = await world.waitForEvent(turn.id, (e) => e.type === 'note' && e.text.startsWith('paused: '))
  expect(paused).toMatchObject({
    text: expect.stringMatching(/tried 3 times.*ANTHROPIC_BASE_URL.*reprise runs continue run_/),
  })
  expect(await world.getRun(turn.id)).toMatchObject({ paused: true, attemptCount: 3 })

  // A client that follows the run is not kept waiting.
  const cli = createCli(world.env)
  const job = await cli.inside(['run', 'and for a job?', '--cwd', world.workDir])
  expect(job.code).toBe(1)
  expect(job.stderr).toContain(`${world.simulator.url} has never answered`)
  expect(job.stderr).toMatch(/reprise jobs retry job_/)
  const said = await cli.inside(['chat', '--cwd', world.workDir, '--message', 'anybody now?'])
  expect(said.code).toBe(1)
  expect(said.stderr.match(/^paused: /gm)).toHaveLength(1)
  expect(said.stderr).toMatch(/^paused · new session/m)
  await world.simulator.comeBack()
  // The command that is suggested names the job by a short form of its id.
  const [named] = /job_\w+/.exec(job.stderr) ?? []
  expect((await cli.inside(['jobs', 'retry', named ?? ''])).code).toBe(0)
  const [theJob] = (await world.api<{ items: Job[] }>('GET', '/api/jobs')).items
  expect(await jobEnds(world, theJob?.id ?? '')).toMatchObject({ state: 'completed', resultText: 'Here.' })
  // The run that was only paused continues too.
  expect(await world.settled(turn.id)).toMatchObject({ outcome: 'completed', resultText: 'Here.' })
  await cli.close()
}, 300_000)

it('no login: reported at once', async () => {
  world = await World.create({ name: 'none', rules: [{ reply: 'x' }] })
  delete world.env.ANTHROPIC_API_KEY
  await world.configure({ agents: { claude: { model: 'haiku', command: 'claude' } } })
  await world.startDaemon()
  const job = await runJob(world, { prompt: 'go' })
  expect(job).toMatchObject({ state: 'paused', attention: 'auth', attemptCount: 1 })
  expect(job.message).toContain('/login')
})
