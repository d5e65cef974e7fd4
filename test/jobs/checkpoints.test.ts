/** Checkpoints of a job's work tree, on the real CLI and real git. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { CheckpointDiff } from '../../src/contract/checkpoint.ts'
import { signal } from '../../src/process/proc.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { createJob, jobEnds, runJob } from '../support/jobs.ts'
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
      { error: { status: 429, retryAfter: 100, times: 1 } },
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

async function begin(rules: RuleInput[]): Promise<void> {
  world = await World.create({ name: 'checkpoints', rules }, { jobs: { backoff: '100ms' } })
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

const told = () =>
  world.simulator
    .requests()
    .flatMap((r) => (r.userText?.includes('You were interrupted') ? [r.userText] : []))
    .at(-1) ?? ''

it('saves the initial state and that of each attempt, without touching branch, index or HEAD', async () => {
  await begin(failsOnce)
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
  // One of them may have ended with another.
  for (const { pid } of world.processes()) signal(pid, 'SIGKILL')
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
