/** What else happens to jobs on the real CLI: moved and damaged sessions, restarts while they wait. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { JobDetail } from '../../src/contract/job.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { createJob, jobEnds, jobIs, retryJob, runJob } from '../support/jobs.ts'
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
  const job = await runJob(world, { prompt: 'write the file', permissions: 'allow', maxResumes: 0 })
  expect(job.state).toBe('failed')
  return { job, transcript: transcriptOf(world.configDir, job.sessionId ?? '') }
}

async function retried(id: string): Promise<JobDetail> {
  await retryJob(world, id)
  return jobEnds(world, id)
}

const lastAsked = () => world.simulator.requests().at(-1)?.userText ?? ''

describe('a failed job is retried', () => {
  it('with another configuration of the agent: its session is restored from its mirror, and resumed', async () => {
    await begin(worksThenFails)
    const { job, transcript } = await failed()
    const before = readFileSync(transcript, 'utf8')
    await world.killDaemon('SIGTERM')
    const elsewhere = join(world.dir, 'other-claude')
    world.env.CLAUDE_CONFIG_DIR = elsewhere
    await world.startDaemon()
    const again = await retried(job.id)
    expect(again).toMatchObject({ state: 'completed', resultText: 'Resumed.', sessionId: job.sessionId })
    const restored = transcriptOf(elsewhere, job.sessionId ?? '')
    const after = readFileSync(restored, 'utf8')
    expect(after.startsWith(before)).toBe(true)
    expect(readFileSync(transcript, 'utf8')).toBe(before)
    const notes = (await world.events(again.runId)).flatMap((e) => (e.type === 'note' ? [e.text] : []))
    expect(notes.join()).toContain('restored from')
    // The transcript can be read although the agent's own file was deleted.
    rmSync(restored)
    const response = await world.request('GET', `/api/jobs/${job.id}/transcript`)
    expect(await response.text()).toBe(after)
    expect(again.archived).toMatchObject([{ sessionId: job.sessionId, bytes: expect.any(Number) }])
  })

  it('whose session file is damaged: repaired on a copy and resumed, or a new session with a handoff', async () => {
    await begin(worksThenFails)
    const incomplete = await failed()
    const torn = `${readFileSync(incomplete.transcript, 'utf8')}{"type":"assist`
    writeFileSync(incomplete.transcript, torn)
    const resumed = await retried(incomplete.job.id)
    expect(resumed).toMatchObject({
      state: 'completed',
      resultText: 'Resumed.',
      sessionId: incomplete.job.sessionId,
    })
    expect(lastAsked()).not.toContain('write the file')
    expect(lastAsked()).toContain('echo first >> log')
    const note = (await world.events(resumed.runId)).find(
      (e) => e.type === 'note' && /incomplete record/.test(e.text),
    )
    const kept = /The original is kept in (\S+)/.exec(note?.type === 'note' ? note.text : '')?.[1] ?? ''
    expect(readFileSync(kept, 'utf8')).toBe(torn)

    const unreadable = await failed()
    writeFileSync(unreadable.transcript, 'no\n\u0000session\n')
    const fresh = await retried(unreadable.job.id)
    expect(fresh).toMatchObject({ state: 'completed', resultText: 'Fresh.' })
    expect(fresh.attempts.at(-1)).toMatchObject({
      resumed: false,
      freshReason: 'transcript-unreadable',
      carry: 'handoff',
    })
    // The agent's texts and the output of its tools, not only their names.
    expect(lastAsked()).toMatch(
      /I begin with the first line[\s\S]*echo first >> log[\s\S]*: done[\s\S]*18-19-20[\s\S]*write the file$/,
    )
    expect(readFileSync(join(world.workDir, 'log'), 'utf8')).toBe('first\nfirst\n')
  })
})

it('a waiting job continues at its time although the daemon was down', async () => {
  await begin(
    [{ when: 'be quick', reply: [{ error: { status: 429, retryAfter: 100, times: 1 } }, 'done'] }],
    {
      jobs: { backoff: '5s' },
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
