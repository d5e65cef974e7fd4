/**
 * What else happens to jobs: damaged sessions, other jobs in their directory, restarts while they wait, notifications.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { JobDetail } from '../../src/contract/job.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { startReceiver } from '../notify/receiver.ts'
import { createJob, getJob, jobEnds, jobIs, retryJob, runJob } from '../support/jobs.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

async function begin(rules: RuleInput[], config: object = {}): Promise<void> {
  world = await World.create({ name: 'lives', rules }, { jobs: { backoff: '100ms' }, ...config })
  await world.startDaemon()
}

const worksThenFails: RuleInput[] = [
  {
    when: '/^write the file$/',
    reply: [
      { text: 'I begin with the first line.' },
      bash('echo first >> log; seq -s- 20'),
      { await: 'results' },
      { error: { status: 400 } },
    ],
  },
  { when: 'You were interrupted', reply: 'Resumed.' },
  { when: 'An earlier attempt at the task', reply: 'Fresh.' },
]

/** A job that has done something and failed, with the file of its session. */
async function failed(): Promise<{ job: JobDetail; transcript: string }> {
  await begin(worksThenFails)
  const job = await runJob(world, { prompt: 'write the file', permissions: 'allow', maxResumes: 0 })
  expect(job.state).toBe('failed')
  return { job, transcript: transcriptOf(world.configDir, job.sessionId ?? '') }
}

async function retried(id: string, resume = true): Promise<JobDetail> {
  await retryJob(world, id, resume)
  return jobEnds(world, id)
}

const lastAsked = () => world.simulator.requests().at(-1)?.userText ?? ''

describe('a failed job is retried', () => {
  it('in its session: told what happened, the prompt not sent again', async () => {
    const { job } = await failed()
    const again = await retried(job.id)
    expect(again).toMatchObject({ state: 'completed', resultText: 'Resumed.', sessionId: job.sessionId })
    expect(again.runIds).toHaveLength(2)
    expect(lastAsked()).not.toContain('write the file')
    expect(lastAsked()).toContain('echo first >> log')
  })

  it('in a new session, if requested: with the prompt and what was done', async () => {
    const { job } = await failed()
    const again = await retried(job.id, false)
    expect(again).toMatchObject({ state: 'completed', resultText: 'Fresh.' })
    expect(again.attempts.at(-1)).toMatchObject({ resumed: false, freshReason: 'forced', carry: 'handoff' })
    expect(lastAsked()).toMatch(/echo first >> log[\s\S]*write the file$/)
    expect(lastAsked()).toContain('a new session was asked for')
    expect(lastAsked()).not.toContain('cannot be resumed')
    // The agent's texts and the output of its tools, not only their names.
    expect(lastAsked()).toMatch(/I begin with the first line[\s\S]*echo first[\s\S]*: done[\s\S]*18-19-20/)
  })

  const DAMAGES: [string, string, (path: string) => void][] = [
    [
      'deleted, and not in the archive',
      'transcript-missing',
      (path) => {
        rmSync(path)
        rmSync(join(world.home, 'archive'), { recursive: true })
      },
    ],
    ['empty', 'transcript-unreadable', (path) => writeFileSync(path, '')],
    ['garbage', 'transcript-unreadable', (path) => writeFileSync(path, 'no\n\u0000session\n')],
  ]
  it.each(sampleOf(DAMAGES, ([, reason]) => [reason]))(
    'whose session file is %s: found before it is resumed, a new session with a handoff',
    async (_, reason, damage) => {
      const { job, transcript } = await failed()
      damage(transcript)
      const again = await retried(job.id)
      expect(again).toMatchObject({ state: 'completed', resultText: 'Fresh.' })
      expect(again.attempts.at(-1)).toMatchObject({ resumed: false, freshReason: reason, carry: 'handoff' })
      expect(lastAsked()).toMatch(/echo first >> log[\s\S]*write the file$/)
      expect(readFileSync(join(world.workDir, 'log'), 'utf8')).toBe('first\n')
    },
  )

  it('with another configuration of the agent: its session is restored from the archive, and resumed', async () => {
    const { job, transcript } = await failed()
    const before = readFileSync(transcript, 'utf8')
    await world.killDaemon('SIGTERM')
    const elsewhere = join(world.dir, 'other-claude')
    world.env.CLAUDE_CONFIG_DIR = elsewhere
    await world.startDaemon()
    const again = await retried(job.id)
    expect(again).toMatchObject({ state: 'completed', resultText: 'Resumed.', sessionId: job.sessionId })
    expect(readFileSync(transcriptOf(elsewhere, job.sessionId ?? ''), 'utf8').startsWith(before)).toBe(true)
    expect(readFileSync(transcript, 'utf8')).toBe(before)
    const notes = (await world.events(again.runId)).flatMap((e) => (e.type === 'note' ? [e.text] : []))
    expect(notes.join()).toContain('restored from the archive')
  })

  it('whose session file has an incomplete end: repaired on a copy, and resumed', async () => {
    const { job, transcript } = await failed()
    const torn = `${readFileSync(transcript, 'utf8')}{"type":"assist`
    writeFileSync(transcript, torn)
    const again = await retried(job.id)
    expect(again).toMatchObject({ state: 'completed', resultText: 'Resumed.' })
    const note = (await world.events(again.runId)).find(
      (e) => e.type === 'note' && /incomplete record/.test(e.text),
    )
    const kept = /The original is kept in (\S+)/.exec(note?.type === 'note' ? note.text : '')?.[1] ?? ''
    expect(readFileSync(kept, 'utf8')).toBe(torn)
  })
})

it("the transcript is archived although the agent's own file was deleted", async () => {
  const { job, transcript } = await failed()
  const before = readFileSync(transcript, 'utf8')
  rmSync(transcript)
  const response = await world.request('GET', `/api/jobs/${job.id}/transcript`)
  expect(await response.text()).toBe(before)
  expect(job.archived).toMatchObject([{ sessionId: job.sessionId, bytes: expect.any(Number) }])
})

it('jobs in one directory run one after the other, by priority; in other directories meanwhile', async () => {
  await begin([
    { when: '/^hold/', reply: [{ hold: 'gate' }, 'done'] },
    { when: '/^say/', reply: 'said' },
  ])
  const elsewhere = join(world.dir, 'elsewhere')
  mkdirSync(elsewhere)
  const holder = await createJob(world, { prompt: 'hold' })
  await world.simulator.waitForHold('gate')
  const later = await createJob(world, { prompt: 'say later' })
  const first = await createJob(world, { prompt: 'say first', priority: 5 })
  expect(await runJob(world, { prompt: 'say elsewhere', workDir: elsewhere })).toMatchObject({
    state: 'completed',
  })
  expect([await getJob(world, later.id), await getJob(world, first.id)]).toMatchObject([
    { state: 'queued', attemptCount: 0 },
    { state: 'queued', attemptCount: 0 },
  ])
  world.simulator.release('gate')
  const [a, b, c] = await Promise.all([holder, first, later].map(({ id }) => jobEnds(world, id)))
  expect(Date.parse(b?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(a?.endedAt ?? ''))
  expect(Date.parse(c?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(b?.endedAt ?? ''))
})

it('a waiting job continues at its time although the daemon was down', async () => {
  await begin(
    [{ when: 'be quick', reply: [{ error: { status: 429, retryAfter: 100, times: 1 } }, 'done'] }],
    {
      jobs: { backoff: '3s' },
    },
  )
  const { id } = await createJob(world, { prompt: 'be quick' })
  const waiting = await jobIs(world, id, (job) => job.state === 'waiting')
  await world.killDaemon()
  await world.startDaemon()
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'done', attemptCount: 2 })
  expect(Date.parse(job.attempts[1]?.startedAt ?? '')).toBeGreaterThanOrEqual(
    Date.parse(waiting.waitingUntil ?? ''),
  )
})

it('people are notified of a question, of a pause, of the end, each once', async () => {
  const receiver = await startReceiver()
  await begin(
    [
      { when: '/^ask$/', reply: [bash('touch made'), { await: 'results' }, 'Made.'] },
      // The cost of its first call stops it, before the second is answered.
      { when: '/^spend$/', reply: [bash('echo one'), { await: 'results' }, { hold: 'gate' }, 'never'] },
    ],
    { notify: { me: { webhook: receiver.url } } },
  )
  const { id, runId } = await createJob(world, { prompt: 'ask', permissions: 'ask' })
  await receiver.received(1)
  const asking = await getJob(world, id)
  expect(asking).toMatchObject({ state: 'running', attention: 'question' })
  await world.api('POST', `/api/runs/${runId}/tool-result`, {
    toolUseId: asking.pending[0]?.toolUseId,
    decision: 'allow',
  })
  await jobEnds(world, id)
  await receiver.received(2)
  await runJob(world, { prompt: 'spend', permissions: 'allow', maxBudgetTokens: 10 })
  world.simulator.release('gate')
  const told = (await receiver.received(3)).map(({ body }) => JSON.parse(body.toString()))
  expect(told).toMatchObject([
    { event: 'attention', job: { id, state: 'running', attention: 'question' } },
    { event: 'done', job: { id, state: 'completed', resultText: 'Made.' } },
    { event: 'attention', job: { state: 'paused', attention: 'budget' } },
  ])
})

it('progress is shown while it works', async () => {
  await begin([
    {
      when: '/^work$/',
      reply: [
        bash('echo one'),
        { await: 'results' },
        bash('until [ -e go ]; do sleep 0.05; done'),
        { await: 'results' },
        'Done.',
      ],
    },
  ])
  const { id } = await createJob(world, { prompt: 'work', permissions: 'allow' })
  const { progress } = await jobIs(world, id, (job) => job.progress.toolCalls === 2)
  expect(progress).toMatchObject({ modelCalls: 2, tool: 'Bash' })
  expect(progress.tokens).toBeGreaterThan(0)
  expect(progress.elapsedMs).toBeGreaterThan(0)
  writeFileSync(join(world.workDir, 'go'), '')
  const job = await jobEnds(world, id)
  expect(job.progress).toMatchObject({ modelCalls: 3, toolCalls: 2, tool: null, costUsd: job.costUsd })
})
