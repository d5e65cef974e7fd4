/** Checkpoints of a job's work tree: real git, with an agent in memory that writes files. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { CreateJob } from '../../../src/contract/create-job.ts'
import type { JobId } from '../../../src/contract/ids.ts'
import type { JobDetail } from '../../../src/contract/job.ts'
import { createJob, jobEnds, jobIs, retryJob, runJob } from '../../support/memory/jobs.ts'
import type { Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const git = (...args: string[]) =>
  execFileSync('git', ['-C', stage.workDir, ...args], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
  }).trim()
const write = (name: string, text: string) => writeFileSync(join(stage.workDir, name), text)
const read = (name: string) => readFileSync(join(stage.workDir, name), 'utf8')

/** A repository with a commit and something staged. */
async function begin(): Promise<void> {
  stage = await Stage.open()
  git('init', '-q', '-b', 'main')
  write('tracked', 'user\n')
  write('.gitignore', 'ignored\n')
  git('add', '.')
  git('-c', 'user.name=u', '-c', 'user.email=u@localhost', 'commit', '-qm', 'first')
  write('staged', 'staged\n')
  git('add', 'staged')
}

/** What must never change: the branch, HEAD, and what is staged. */
const state = () =>
  [git('rev-parse', 'HEAD'), git('symbolic-ref', 'HEAD'), git('diff', '--cached')].join('\n')

/** Works, and meets a limit that only a pause cures. */
const works: Script = async (agent) => {
  await agent.begin()
  write('made', 'agent\n')
  write('tracked', 'user\nagent\n')
  agent.useTool('Bash', { command: 'make' }, 'made')
  agent.finish('', { outcome: { name: 'rate-limited', message: 'too many' } })
  return agent.leave()
}
/** Says what it finds in the files. */
const looks: Script = async (agent) => {
  await agent.begin()
  agent.finish(`Found ${read('made')}${read('tracked')}`)
  return agent.leave()
}

/** A job that has worked and waits for its second attempt. */
async function interrupted(checkpoints: CreateJob['checkpoints']): Promise<JobId> {
  await begin()
  stage.play(works, looks)
  const id = await createJob(stage, { prompt: 'write the file', checkpoints })
  await jobIs(stage, id, (job) => job.state === 'waiting')
  return id
}

async function goOn(id: JobId): Promise<JobDetail> {
  await stage.engine.retryJob(id, { resume: true })
  return jobEnds(stage, id)
}

const told = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

test('continue: the agent is told exactly what others changed, and the changes stay', async () => {
  const id = await interrupted({ onChange: 'continue' })
  write('made', 'somebody else\n')
  write('new "file"', 'x')
  write('clash', '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n')
  const job = await goOn(id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('somebody else') })
  expect(told()).toContain('"made"')
  expect(told()).toContain('"new \\"file\\""')
  expect(told()).toMatch(/conflict.*clash/is)
  expect(told()).not.toContain('"tracked"')
})

test('restore: back to the state that the agent left, and what others made is saved', async () => {
  const id = await interrupted({ onChange: 'restore' })
  write('made', 'somebody else\n')
  write('tracked', 'somebody else\n')
  write('new', 'x')
  const job = await goOn(id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'Found agent\nuser\nagent\n' })
  expect([read('made'), read('tracked')]).toEqual(['agent\n', 'user\nagent\n'])
  const saved = job.checkpoints.find(({ kind }) => kind === 'saved')
  expect(git('show', `${saved?.ref}:made`)).toBe('somebody else')
  expect(git('show', `${saved?.ref}:new`)).toBe('x')
  expect(told()).toContain('put back')
})

test('stop: the job is paused until a person has checked; then it continues, told what changed', async () => {
  const id = await interrupted({ onChange: 'stop' })
  write('made', 'somebody else\n')
  const paused = await goOn(id)
  expect(paused).toMatchObject({ state: 'paused', attention: 'work-dir', outcome: 'work-dir-changed' })
  expect(paused.attemptCount).toBe(1)
  const job = await retryJob(stage, id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('somebody else') })
  expect(told()).toContain('"made"')
})

test('an unfinished merge is found, and no restore happens over it', async () => {
  const id = await interrupted({ onChange: 'restore' })
  write('.git/MERGE_HEAD', `${git('rev-parse', 'HEAD')}\n`)
  const job = await goOn(id)
  expect(job).toMatchObject({ state: 'paused', attention: 'work-dir' })
  expect(job.message).toContain('merge')
})

test('a person restores any checkpoint, on a dirty tree: nothing is lost, the index stays', async () => {
  await begin()
  stage.play(async (agent) => {
    await agent.begin()
    write('made', 'agent\n')
    rmSync(join(stage.workDir, 'tracked'))
    agent.finish('Done.')
    return agent.leave()
  })
  const job = await runJob(stage, { checkpoints: true })
  const before = state()
  mkdirSync(join(stage.workDir, 'sub'))
  write('sub/dirty', 'mine')
  write('made', 'mine')
  write('ignored', 'mine')
  const answer = await stage.engine.restoreCheckpoint(job.id, 1)
  expect(answer.restored).toBe(1)
  expect(git('status', '--porcelain')).toBe('A  staged')
  expect([read('tracked'), read('ignored')]).toEqual(['user\n', 'mine'])
  expect(state()).toBe(before)
  const saved = `refs/reprise/${job.id}/${answer.saved}`
  expect([git('show', `${saved}:made`), git('show', `${saved}:sub/dirty`)]).toEqual(['mine', 'mine'])
  await stage.engine.restoreCheckpoint(job.id, answer.saved ?? 0)
  expect([read('made'), read('sub/dirty')]).toEqual(['mine', 'mine'])
})

test('is taken periodically while the agent works', async () => {
  await begin()
  let finish = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    write('made', 'agent\n')
    agent.useTool('Bash', { command: 'make' }, 'made')
    await new Promise<void>((resolve) => (finish = resolve))
    agent.finish('Done.')
    return agent.leave()
  })
  const id = await createJob(stage, { checkpoints: { everyMs: 1000 } })
  await jobIs(stage, id, ({ progress }) => progress.toolCalls === 1)
  stage.clock.advance(2000)
  const job = await jobIs(stage, id, ({ checkpoints }) => checkpoints.length === 2)
  expect(job).toMatchObject({ state: 'running', checkpoints: [{ kind: 'start' }, { kind: 'agent' }] })
  expect(git('show', `refs/reprise/${id}/2:made`)).toBe('agent')
  finish()
  expect((await jobEnds(stage, id)).checkpoints).toHaveLength(2)
})

test('what a person changed before a retry stays, whatever the policy', async () => {
  await begin()
  stage.play(async (agent) => {
    await agent.begin()
    write('made', 'agent\n')
    agent.useTool('Bash', { command: 'make' }, 'made')
    return new Promise(() => {})
  }, looks)
  const id = await createJob(stage, { prompt: 'write the file', checkpoints: { onChange: 'restore' } })
  await jobIs(stage, id, ({ progress }) => progress.toolCalls === 1)
  await stage.engine.cancelJob(id)
  expect(await jobEnds(stage, id)).toMatchObject({ state: 'cancelled' })
  write('made', 'by hand\n')
  const job = await retryJob(stage, id)
  expect(job).toMatchObject({ state: 'completed', resultText: expect.stringContaining('by hand') })
  expect(read('made')).toBe('by hand\n')
  expect(told()).toContain('"made"')
})

test('what nobody changed is not mentioned', async () => {
  const id = await interrupted(true)
  const before = state()
  expect(await goOn(id)).toMatchObject({ state: 'completed', resultText: 'Found agent\nuser\nagent\n' })
  expect(told()).not.toContain('changed')
  expect(state()).toBe(before)
})
