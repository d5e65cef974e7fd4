/** Checkpoints of a job's work tree, on the real CLI and real git. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { CheckpointDiff } from '../../src/contract/checkpoint.ts'
import type { CreateJob } from '../../src/contract/create-job.ts'
import type { JobDetail } from '../../src/contract/job.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { createJob, jobEnds, jobIs, retryJob, runJob } from '../support/jobs.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })
const PROMPT = 'write the file'
/** Writes, then fails once in a way that only a pause cures; told to continue, it reports what it finds. */
const failsOnce: RuleInput[] = [
  {
    when: '/^write the file$/',
    reply: [
      bash('echo agent > made; echo agent >> tracked'),
      { await: 'results' },
      { error: { status: 500, times: 2 } },
      'never',
    ],
  },
  {
    when: 'You were interrupted',
    reply: [bash('cat made tracked'), { await: 'results' }, 'Found ${toolResult}'],
  },
]

const git = (...args: string[]) =>
  execFileSync('git', ['-C', world.workDir, ...args], {
    env: { ...world.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
  }).trim()
const write = (name: string, text: string) => writeFileSync(join(world.workDir, name), text)
const read = (name: string) => readFileSync(join(world.workDir, name), 'utf8')

async function begin(rules: RuleInput[], backoff = '2s'): Promise<void> {
  world = await World.create({ name: 'checkpoints', rules }, { jobs: { backoff } })
  git('init', '-q', '-b', 'main')
  write('tracked', 'user\n')
  write('.gitignore', 'ignored\n')
  git('add', '.')
  git('-c', 'user.name=u', '-c', 'user.email=u@localhost', 'commit', '-qm', 'first')
  write('staged', 'staged\n')
  git('add', 'staged')
  await world.startDaemon()
}

/** What must never change: the branch, HEAD, and what is staged. */
const state = () =>
  [git('rev-parse', 'HEAD'), git('symbolic-ref', 'HEAD'), git('diff', '--cached')].join('\n')

async function interrupted(request: Partial<CreateJob>): Promise<JobDetail> {
  const { id } = await createJob(world, { prompt: PROMPT, permissions: 'allow', ...request })
  return jobIs(world, id, (job) => job.state === 'waiting')
}

const told = () =>
  world.simulator
    .requests()
    .flatMap((r) => (r.userText?.includes('You were interrupted') ? [r.userText] : []))
    .at(-1) ?? ''

it('saves the initial state and that of each attempt, without touching branch, index or HEAD', async () => {
  await begin(failsOnce, '100ms')
  const before = state()
  const job = await runJob(world, { prompt: PROMPT, permissions: 'allow', checkpoints: true })
  expect(job.state).toBe('completed')
  expect(state()).toBe(before)
  expect(job.checkpoints.map(({ kind }) => kind)).toEqual(['start', 'agent'])
  expect(git('for-each-ref', '--format=%(refname)', 'refs/reprise').split('\n')).toEqual(
    job.checkpoints.map(({ number }) => `refs/reprise/${job.id}/${number}`),
  )
  expect(git('show', `refs/reprise/${job.id}/2:made`)).toBe('agent')
  expect(git('show', `refs/reprise/${job.id}/1:staged`)).toBe('staged')
  expect(told()).not.toContain('changed')

  const diff = await world.api<CheckpointDiff>('GET', `/api/jobs/${job.id}/diff`)
  expect(diff).toMatchObject({ from: 1, to: null, truncated: false })
  expect(diff.files).toEqual([
    { status: 'added', path: 'made' },
    { status: 'modified', path: 'tracked' },
  ])
  expect(diff.patch).toContain('+agent')
})

it('continue: the agent is told exactly what others changed, and the changes stay', async () => {
  await begin(failsOnce)
  const { id } = await interrupted({ checkpoints: { onChange: 'continue' } })
  write('made', 'somebody else\n')
  write('new "file"', 'x')
  write('clash', '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n')
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('somebody else') })
  expect(told()).toContain('"made"')
  expect(told()).toContain('"new \\"file\\""')
  expect(told()).toMatch(/conflict.*clash/is)
  expect(told()).not.toContain('"tracked"')
})

it('restore: back to the state that the agent left, and what others made is saved', async () => {
  await begin(failsOnce)
  const { id } = await interrupted({ checkpoints: { onChange: 'restore' } })
  write('made', 'somebody else\n')
  write('tracked', 'somebody else\n')
  write('new', 'x')
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('agent') })
  expect([read('made'), read('tracked')]).toEqual(['agent\n', 'user\nagent\n'])
  const saved = job.checkpoints.find(({ kind }) => kind === 'saved')
  expect(git('show', `${saved?.ref}:made`)).toBe('somebody else')
  expect(git('show', `${saved?.ref}:new`)).toBe('x')
  expect(told()).toContain('put back')
})

it('stop: the job is paused until a person has checked; then it continues, told what changed', async () => {
  await begin(failsOnce)
  const { id } = await interrupted({ checkpoints: { onChange: 'stop' } })
  write('made', 'somebody else\n')
  const paused = await jobEnds(world, id)
  expect(paused).toMatchObject({ state: 'paused', attention: 'work-dir', outcome: 'work-dir-changed' })
  expect(paused.attemptCount).toBe(1)
  await retryJob(world, id)
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('somebody else') })
  expect(told()).toContain('"made"')
})

it('an unfinished merge is found, and no restore happens over it', async () => {
  await begin(failsOnce)
  const { id } = await interrupted({ checkpoints: { onChange: 'restore' } })
  writeFileSync(join(world.workDir, '.git', 'MERGE_HEAD'), `${git('rev-parse', 'HEAD')}\n`)
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'paused', attention: 'work-dir' })
  expect(job.message).toContain('merge')
})

it('a person restores any checkpoint, on a dirty tree: nothing is lost, the index stays', async () => {
  await begin([
    {
      when: '/^write the file$/',
      reply: [bash('echo agent > made; rm tracked'), { await: 'results' }, 'Done.'],
    },
  ])
  const job = await runJob(world, { prompt: PROMPT, permissions: 'allow', checkpoints: true })
  const before = state()
  mkdirSync(join(world.workDir, 'sub'))
  write('sub/dirty', 'mine')
  write('made', 'mine')
  write('ignored', 'mine')
  const answer = await world.api<{ restored: number; saved: number }>('POST', `/api/jobs/${job.id}/restore`, {
    checkpoint: 1,
  })
  expect(answer.restored).toBe(1)
  expect(git('status', '--porcelain')).toBe('A  staged')
  expect([read('tracked'), read('ignored')]).toEqual(['user\n', 'mine'])
  expect(state()).toBe(before)
  const saved = `refs/reprise/${job.id}/${answer.saved}`
  expect([git('show', `${saved}:made`), git('show', `${saved}:sub/dirty`)]).toEqual(['mine', 'mine'])

  await world.api('POST', `/api/jobs/${job.id}/restore`, { checkpoint: answer.saved })
  expect([read('made'), read('sub/dirty')]).toEqual(['mine', 'mine'])
})

it('is taken periodically while the agent works', async () => {
  await begin([
    {
      when: '/^write the file$/',
      reply: [bash('echo agent > made'), { await: 'results' }, { hold: 'gate' }, 'Done.'],
    },
  ])
  const { id } = await createJob(world, {
    prompt: PROMPT,
    permissions: 'allow',
    checkpoints: { everyMs: 1000 },
  })
  await world.simulator.waitForHold('gate')
  const job = await jobIs(world, id, ({ checkpoints }) => checkpoints.length === 2)
  expect(job).toMatchObject({ state: 'running', checkpoints: [{ kind: 'start' }, { kind: 'agent' }] })
  world.simulator.release('gate')
  expect((await jobEnds(world, id)).checkpoints).toHaveLength(2)
})

it('what a person changed before a retry stays, whatever the policy', async () => {
  await begin([
    {
      when: '/^write the file$/',
      reply: [bash('echo agent > made'), { await: 'results' }, { hold: 'gate' }, 'never'],
    },
    { when: 'You were interrupted', reply: [bash('cat made'), { await: 'results' }, 'Found ${toolResult}'] },
  ])
  const { id } = await createJob(world, {
    prompt: PROMPT,
    permissions: 'allow',
    checkpoints: { onChange: 'restore' },
  })
  await world.simulator.waitForHold('gate')
  await world.api('POST', `/api/jobs/${id}/cancel`)
  const cancelled = await jobEnds(world, id)
  write('made', 'by hand\n')
  await retryJob(world, id)
  const job = await jobEnds(world, id)
  expect(cancelled.state).toBe('cancelled')
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('by hand') })
  expect(read('made')).toBe('by hand\n')
  expect(told()).toContain('"made"')
})

it("changes of others while everything was down are not taken for the agent's work", async () => {
  await begin([
    {
      when: '/^write the file$/',
      reply: [bash('echo agent > made'), { await: 'results' }, { hold: 'gate' }, 'never'],
    },
  ])
  const { id, runId } = await createJob(world, {
    prompt: PROMPT,
    permissions: 'allow',
    checkpoints: { onChange: 'stop' },
  })
  await world.simulator.waitForHold('gate')
  await world.waitForEvent(runId, (e) => e.type === 'tool-end')
  await world.killDaemon()
  for (const { pid } of world.processes()) process.kill(pid, 'SIGKILL')
  await until(() => world.processes().length === 0, 'all to be gone')
  // File systems record times with a resolution of some milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 100))
  write('tracked', 'somebody else\n')
  await world.startDaemon()
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'paused', attention: 'work-dir' })
  expect(job.message).toContain('"tracked"')
  expect(job.checkpoints.map(({ kind }) => kind)).toEqual(['start', 'found'])
})
