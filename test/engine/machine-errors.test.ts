/** What this machine lacks for a while (space, descriptors, processes) costs runs time, and nothing else. */
import { afterEach, expect, test } from 'vitest'
import { RepriseError } from '../../src/contract/errors.ts'
import { createJob, jobEnds } from '../support/memory/jobs.ts'
import type { MemoryProcesses } from '../support/memory/processes.ts'
import { answers, type Script } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const BLOCK = 4096
const PLENTY = { freeBytes: 2 ** 40, totalBytes: 2 ** 40, freeFiles: null, totalFiles: null }
const refused = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: refused`), { code, ...(path === undefined ? {} : { path }) })

/** The next calls of this method fail. */
function fail<Method extends 'launch' | 'prepare' | 'follow' | 'endStrays'>(
  processes: MemoryProcesses,
  method: Method,
  ...errors: Error[]
): void {
  const original = processes[method] as (...given: unknown[]) => unknown
  Object.assign(processes, {
    [method]: (...given: unknown[]) => {
      const error = errors.shift()
      if (error) throw error
      return original.apply(processes, given)
    },
  })
}

const begun = (id: string) => stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)

test.each([
  [
    'launch',
    'no process can be forked',
    () => new RepriseError('agent-unavailable', 'no', { cause: refused('EAGAIN') }),
  ],
  ['prepare', 'no descriptor is left', () => refused('EMFILE')],
  ['prepare', 'the disk is full', () => refused('ENOSPC')],
  ['prepare', 'the spool may not be written', () => refused('EPERM', `${stage.input().spool}/att`)],
  ['follow', 'the output cannot be opened', () => refused('ENFILE')],
  ['endStrays', 'the end cannot be looked at', () => refused('ENOMEM')],
] as const)('%s fails: %s', async (method, _what, errorOf) => {
  stage = await Stage.open()
  fail(stage.processes, method, errorOf())
  const id = await createJob(stage, { maxResumes: 0 })
  const job = await jobEnds(stage, id)
  expect(job).toMatchObject({ state: 'completed' })
  expect(await stage.notes(job.runId)).toContainEqual(expect.stringMatching(/refused|^no/))
  // The agent that was at work was not started again.
  expect(stage.processes.starts()).toHaveLength(1)
})

test('a directory that the user may not use is not waited for', async () => {
  stage = await Stage.open()
  fail(stage.processes, 'prepare', refused('EACCES', '/elsewhere/file'))
  expect(await stage.run()).toMatchObject({ outcome: 'crashed', message: expect.stringContaining('EACCES') })
})

test('a run waits, with the reason, while there is no space, then continues', async () => {
  stage = await Stage.open()
  stage.disk = { ...PLENTY, freeBytes: 100 * 2 ** 20 }
  const id = await stage.admit()
  await stage.until(async () => (await stage.engine.getRun(id)).notBefore !== null)
  const reason = 'disk nearly full: 100 MiB free on the disk of'
  expect(await stage.engine.getRun(id)).toMatchObject({ message: expect.stringContaining(reason) })
  expect((await stage.engine.getRun(id)).message).toContain('needs 200 MiB')
  expect(stage.engine.describeDisks()).toEqual([
    { path: expect.any(String), full: false, message: expect.stringContaining(reason) },
  ])
  const { parked } = await stage.engine.readOverview(new Date(0))
  expect(parked).toMatchObject([{ id, message: expect.stringContaining(reason) }])

  stage.disk = { ...PLENTY, freeFiles: 3, totalFiles: 10 ** 6 }
  const short = () => stage.engine.describeDisks()[0]?.message ?? ''
  await stage.until(() => short().includes('3 more files possible'))
  expect(stage.processes.starts()).toHaveLength(0)

  stage.disk = PLENTY
  await stage.until(() => stage.engine.describeDisks().length === 0)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
})

test('when the disk is full, agents at work are stopped, their run says what may be lost and continues later', async () => {
  stage = await Stage.open({ config: { jobs: { backoff: '100ms' } } })
  const silent: Script = async (agent) => {
    await agent.begin()
    return new Promise(() => {})
  }
  stage.play(silent, answers('all done'))
  const id = await createJob(stage, { maxResumes: 0 })
  const { runId } = await stage.engine.getJob(id)
  await begun(runId)
  stage.disk = { ...PLENTY, freeBytes: 2 ** 20 }
  await stage.until(async () => (await stage.eventsOf(runId, 'attempt-end')).length > 0)
  expect(await stage.eventsOf(runId, 'gap')).toEqual([
    expect.objectContaining({ reason: 'disk-full', from: expect.any(Number) }),
  ])
  expect(stage.engine.findStorageFailure()).toMatchObject({ why: 'the disk is full' })
  expect((await stage.eventsOf(runId, 'attempt-end'))[0]?.outcome).toMatchObject({ temporary: true })

  // Less than what is needed, but more than a full disk has: new attempts still wait.
  stage.disk = { ...PLENTY, freeBytes: 50 * 2 ** 20 }
  await stage.until(async () => (await stage.engine.getRun(runId)).message?.includes('50 MiB free') === true)
  stage.disk = PLENTY
  expect(await jobEnds(stage, id)).toMatchObject({ state: 'completed', resultText: 'all done' })
  const [first, second] = stage.processes.starts()
  expect(second).toMatchObject({ resume: true, agentSessionId: first?.agentSessionId })
})

test('an agent that ends because the machine lacks something is tried again, and it counts for nothing', async () => {
  stage = await Stage.open({ config: { jobs: { backoff: '100ms' } } })
  const dies: Script = async (agent) => {
    agent.complain('node: pthread_create: Resource temporarily unavailable')
    return 134
  }
  stage.play(dies, dies, answers('done'))
  const id = await createJob(stage, { maxResumes: 0 })
  expect(await jobEnds(stage, id)).toMatchObject({ state: 'completed' })
  expect(stage.processes.starts()).toHaveLength(3)
})

test('a disk that was full while no daemon watched it: the run says what may be lost, and it counts for nothing', async () => {
  stage = await Stage.open({ config: { jobs: { backoff: '100ms' } } })
  stage.play(async (agent) => {
    await agent.begin()
    return 1
  }, answers('all done'))
  const { follow } = stage.processes
  let first = true
  stage.processes.follow = (...given) => {
    const tail = follow(...given)
    const end = tail.end.bind(tail)
    tail.end = async () => {
      const seen = await end()
      if (!seen || !first) return seen
      // The keeper could not write the exit code.
      first = false
      tail.end = async () => ({ kind: 'lost', starved: false, unwritten: true })
      return tail.end()
    }
    return tail
  }
  const id = await createJob(stage, { maxResumes: 0 })
  const { runId } = await jobEnds(stage, id)
  expect(await stage.engine.getJob(id)).toMatchObject({ state: 'completed', resultText: 'all done' })
  expect(await stage.eventsOf(runId, 'gap')).toEqual([expect.objectContaining({ reason: 'disk-full' })])
  expect((await stage.eventsOf(runId, 'attempt-end'))[0]?.outcome).toMatchObject({ temporary: true })
})

test.each([
  ['ends its output', false],
  ['is followed by other lines', true],
])(
  'a line that a full disk tore %s: the run says so, and its agent does not wait for ever',
  async (_, printsOn) => {
    stage = await Stage.open({ config: { jobs: { backoff: '100ms' } } })
    stage.play(async (agent) => {
      await agent.begin()
      // The agent asks something, and the first block of its output ends in the middle of the question.
      const ask = JSON.stringify({ type: 'permission-ask', tool: 'Shell', input: 'rm' }).slice(0, 40)
      const printed = stage.processes.all()[0]?.out.length ?? 0
      agent.printText('\n'.repeat(BLOCK - printed - ask.length) + ask)
      if (printsOn) agent.print({ type: 'text-delta', text: 'still here' })
      return new Promise(() => {})
    }, answers('all done'))
    const id = await createJob(stage, { maxResumes: 0 })
    const { runId } = await jobEnds(stage, id)
    expect(await stage.engine.getJob(id)).toMatchObject({ state: 'completed', resultText: 'all done' })
    expect(await stage.eventsOf(runId, 'gap')).toMatchObject([
      { reason: 'disk-full', from: BLOCK, to: BLOCK },
    ])
    expect((await stage.eventsOf(runId, 'attempt-end'))[0]?.outcome).toMatchObject({ temporary: true })
  },
)
