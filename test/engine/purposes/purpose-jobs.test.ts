/** Jobs that are interrupted, run out of budget or turns, wait, or share a directory: how they continue and what is shown. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { HeldAgent } from '../../support/memory/held.ts'
import { createJob, jobEnds, jobIs, retryJob, runJob } from '../../support/memory/jobs.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

/** Says what it begins with, runs a tool, and ends in a way that no other attempt cures. */
const worksThenFails: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-end', text: 'I begin with the first line.' })
  agent.useTool('Bash', { command: 'echo first >> log' }, '18-19-20')
  agent.finish('', { outcome: { name: 'api-error', message: 'invalid request', apiStatus: 400 } })
  return agent.leave()
}

describe('a job that was interrupted', () => {
  test('by its time limit in the middle of a tool goes on in its session, told that the outcome is unknown', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      agent.print({ type: 'tool-start', toolUseId: 't1', name: 'Bash', input: { command: 'make' } })
      return new Promise(() => {})
    }, answers('It has first.'))
    const id = await createJob(stage, { prompt: 'write the file', timeoutMs: 60_000 })
    await jobIs(stage, id, ({ progress }) => progress.toolCalls === 1)
    stage.clock.advance(61_000)
    const job = await jobEnds(stage, id)
    expect(job).toMatchObject({
      state: 'completed',
      attemptCount: 2,
      resumeCount: 1,
      resultText: 'It has first.',
    })
    expect(job.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
      [false, 'timed-out'],
      [true, 'completed'],
    ])
    expect(job.attempts.map((a) => a.agentSessionId)).toEqual([job.sessionId, job.sessionId])
    expect(lastPrompt()).toContain('You were interrupted: was timed-out')
    expect(lastPrompt()).toContain('outcome unknown')
    expect(lastPrompt()).not.toContain('write the file')
  })

  test('by an outage that exceeds its limit is paused; a retry continues in the same session', async () => {
    await open({ settings: { outageLimitMs: 0 } })
    const outage = answers('', { outcome: { name: 'outage', message: 'nobody answers', scope: 'account' } })
    stage.play(outage, outage, answers('done'))
    const paused = await runJob(stage, { prompt: 'work', maxResumes: 1 })
    expect(paused).toMatchObject({ state: 'paused', attention: 'outage', outcome: 'outage' })
    expect(paused.message).toContain('outage.limit')
    stage.clock.advance(3_600_000)
    expect(await retryJob(stage, paused.id)).toMatchObject({ state: 'paused', sessionId: paused.sessionId })
    stage.clock.advance(3_600_000)
    expect(await retryJob(stage, paused.id)).toMatchObject({
      state: 'completed',
      resultText: 'done',
      sessionId: paused.sessionId,
    })
  })

  test('by a limit without a reset time waits for its pause, and then goes on by itself', async () => {
    await open({ config: { jobs: { backoff: '10m' } } })
    stage.play(answers('', { outcome: { name: 'rate-limited', message: 'too many' } }), answers('done'))
    const id = await createJob(stage)
    const waiting = await jobIs(stage, id, ({ state }) => state === 'waiting')
    const [first] = waiting.attempts
    const pauseMs = Date.parse(waiting.waitingUntil ?? '') - Date.parse(first?.endedAt ?? '')
    expect(pauseMs).toBeGreaterThanOrEqual(600_000)
    await stage.drop()
    stage.clock.advance(pauseMs)
    await stage.reopen()
    const job = await jobEnds(stage, id)
    expect(job).toMatchObject({ state: 'completed', resultText: 'done', attemptCount: 2 })
    expect(Date.parse(job.attempts[1]?.startedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(waiting.waitingUntil ?? ''),
    )
  })
})

describe('a failed job is retried', () => {
  const failed = () => {
    stage.play(worksThenFails)
    return runJob(stage, { prompt: 'write the file', maxResumes: 0 })
  }
  const HANDOFF =
    /I begin with the first line[\s\S]*echo first[\s\S]*: done[\s\S]*18-19-20[\s\S]*write the file$/

  test('in its session: told what happened, the prompt not sent again', async () => {
    await open()
    const { id, sessionId } = await failed()
    const again = await retryJob(stage, id)
    expect(again).toMatchObject({ state: 'completed', sessionId })
    expect(again.runIds).toHaveLength(2)
    expect(lastPrompt()).not.toContain('write the file')
    expect(lastPrompt()).toContain('echo first >> log')
  })

  test('in a new session, if requested: with the prompt and what was done', async () => {
    await open()
    const { id, sessionId } = await failed()
    const again = await retryJob(stage, id, false)
    expect(again).toMatchObject({ state: 'completed' })
    expect(again.sessionId).not.toBe(sessionId)
    expect(again.attempts.at(-1)).toMatchObject({ resumed: false, freshReason: 'forced', carry: 'handoff' })
    expect(lastPrompt()).toMatch(HANDOFF)
    expect(lastPrompt()).toContain('a new session was asked for')
    expect(lastPrompt()).not.toContain('cannot be resumed')
  })

  test.each([
    ['in its session, which has what was said to the agent', true, 0],
    ['in a new session, which is told what was said to the agent', false, 1],
  ])('%s', async (_, resume, times) => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      agent.print({ type: 'text-delta', text: 'working' })
      await agent.takePrompt()
      agent.finish('', { outcome: { name: 'api-error', message: 'invalid request', apiStatus: 400 } })
      return agent.leave()
    })
    const id = await createJob(stage, { prompt: 'mend the roof', maxResumes: 0 })
    const { runId } = await jobIs(stage, id, ({ state }) => state === 'running')
    await stage.until(async () => (await stage.eventsOf(runId, 'text-delta')).length > 0)
    await stage.engine.say(runId as RunId, { text: 'with slate, not tin' }, null)
    expect(await jobEnds(stage, id)).toMatchObject({ state: 'failed' })
    expect(await retryJob(stage, id, resume)).toMatchObject({ state: 'completed' })
    const told = lastPrompt().match(/Message from the user: with slate, not tin/g) ?? []
    expect(told).toHaveLength(times)
  })

  test.each([
    ['transcript-missing', (sessionId: string) => stage.transcripts.remove(sessionId)],
    ['transcript-unreadable', (sessionId: string) => stage.transcripts.damage(sessionId, 'unreadable')],
    ['expired', () => stage.clock.advance(3650 * 86_400_000)],
  ])(
    'although its session cannot be resumed (%s): a new one gets the prompt and what was done',
    async (reason, spoil) => {
      await open()
      const { id, sessionId } = await failed()
      spoil(sessionId ?? '')
      const again = await retryJob(stage, id)
      expect(again).toMatchObject({ state: 'completed' })
      expect(again.sessionId).not.toBe(sessionId)
      expect(again.attempts.at(-1)).toMatchObject({ resumed: false, freshReason: reason, carry: 'handoff' })
      expect(lastPrompt()).toMatch(HANDOFF)
      expect(lastPrompt()).toContain('cannot be resumed')
    },
  )
})

describe('a budget', () => {
  const spends = answers('so far', { outcome: { name: 'budget', message: 'spent' }, costUsd: 1 })

  test('that is raised too little leaves the job paused', async () => {
    await open()
    stage.play(spends)
    const paused = await runJob(stage, { maxBudgetUsd: 0.5 })
    expect(paused).toMatchObject({ state: 'paused', attention: 'budget', outcome: 'budget', costUsd: 1 })
    expect(await stage.engine.updateJob(paused.id, { maxBudgetUsd: 0.9 })).toMatchObject({
      state: 'paused',
      attention: 'budget',
      runId: paused.runId,
    })
    expect(stage.processes.starts()).toHaveLength(1)
    const { runId } = await stage.engine.updateJob(paused.id, { maxBudgetUsd: 5 })
    expect(runId).not.toBe(paused.runId)
    const job = await jobEnds(stage, paused.id)
    expect(job).toMatchObject({ state: 'completed', sessionId: paused.sessionId })
    expect(job.attempts.at(-1)).toMatchObject({ resumed: true })
    expect(lastPrompt()).not.toContain('do it')
  })

  test('that is used up by a turn that has finished leaves it completed', async () => {
    await open()
    stage.play(answers('hello'))
    expect(await runJob(stage, { maxBudgetTokens: 10 })).toMatchObject({
      state: 'completed',
      attemptCount: 1,
    })
  })

  test('in tokens applies to all attempts together: a retry without more of it costs nothing', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      agent.callModel(500)
      return new Promise(() => {})
    })
    const job = await runJob(stage, { maxBudgetTokens: 400 })
    expect(job).toMatchObject({ state: 'paused', attention: 'budget' })
    expect(job.progress.tokens).toBeGreaterThanOrEqual(400)
    const again = await retryJob(stage, job.id)
    expect(again).toMatchObject({ state: 'paused', attention: 'budget', costUsd: job.costUsd })
    expect(again.attemptCount).toBe(job.attemptCount)
  })
})

test('turns that are used up are continued up to their total, and the run says how many are left', async () => {
  await open()
  stage.play(answers('', { outcome: { name: 'turn-limit', message: 'took 1 turn' } }), answers('Going on.'))
  const job = await runJob(stage, { maxTurns: 1, continue: true, maxTurnsTotal: 3 })
  expect(job).toMatchObject({ state: 'completed', resultText: 'Going on.', attemptCount: 2, resumeCount: 1 })
  expect(await stage.notes(job.runId)).toEqual([expect.stringMatching(/; continuing, 2 turns are left$/)])
})

test('jobs in one directory run one after the other, by priority; in other directories meanwhile', async () => {
  await open()
  const elsewhere = join(stage.workDir, 'elsewhere')
  mkdirSync(elsewhere)
  const agent = new HeldAgent('x', 'done')
  stage.play(agent.script)
  const holder = await createJob(stage, { prompt: 'hold' })
  await jobIs(stage, holder, ({ progress }) => progress.modelCalls === 1)
  const later = await createJob(stage, { prompt: 'say later' })
  const first = await createJob(stage, { prompt: 'say first', priority: 5 })
  expect(await runJob(stage, { prompt: 'say elsewhere', workDir: elsewhere })).toMatchObject({
    state: 'completed',
  })
  for (const id of [later, first])
    expect(await stage.engine.getJob(id)).toMatchObject({ state: 'queued', attemptCount: 0 })
  agent.release()
  const [a, b, c] = await Promise.all([holder, first, later].map((id) => jobEnds(stage, id)))
  expect(Date.parse(b?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(a?.endedAt ?? ''))
  expect(Date.parse(c?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(b?.endedAt ?? ''))
  expect(stage.processes.starts().map(({ prompt }) => prompt[0])).toEqual([
    'hold',
    'say elsewhere',
    'say first',
    'say later',
  ])
})

test('people are notified of a question, of the end, of a pause, each once', async () => {
  await open()
  const asks: Script = async (agent) => {
    await agent.begin()
    await agent.ask('Bash', { command: 'touch made' })
    agent.finish('Made.')
    return agent.leave()
  }
  stage.play(asks, answers('so far', { outcome: { name: 'budget', message: 'spent' }, costUsd: 1 }))
  const id = await createJob(stage, { prompt: 'ask', permissions: 'ask' })
  await stage.until(() => stage.told.length === 1)
  const asking = await stage.engine.getJob(id)
  expect(asking).toMatchObject({ state: 'running', attention: 'question' })
  const toolUseId = asking.pending[0]?.toolUseId ?? ''
  const runId = (await stage.engine.listRuns({ limit: 1 })).items[0]?.id
  if (runId) await stage.engine.answer(runId, { toolUseId, decision: 'allow' })
  await jobEnds(stage, id)
  await runJob(stage, { prompt: 'spend', maxBudgetUsd: 1 })
  expect(stage.told).toMatchObject([
    { event: 'attention', subject: { id }, payload: { state: 'running', attention: 'question' } },
    { event: 'done', subject: { id }, payload: { state: 'completed', resultText: 'Made.' } },
    { event: 'attention', payload: { state: 'paused', attention: 'budget' } },
  ])
})

test('progress is shown while it works', async () => {
  await open()
  let finish = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    agent.useTool('Bash', { command: 'echo one' }, 'one')
    agent.callModel()
    agent.print({ type: 'tool-start', toolUseId: 't2', name: 'Bash', input: { command: 'make' } })
    await new Promise<void>((resolve) => (finish = resolve))
    agent.print({ type: 'tool-end', toolUseId: 't2', isError: false, content: '' })
    agent.callModel()
    agent.finish('Done.', { costUsd: 1 })
    return agent.leave()
  })
  const id = await createJob(stage)
  const { progress } = await jobIs(stage, id, (job) => job.progress.toolCalls === 2)
  expect(progress).toMatchObject({ modelCalls: 2, tool: 'Bash' })
  expect(progress.tokens).toBeGreaterThan(0)
  expect(progress.elapsedMs).toBeGreaterThan(0)
  finish()
  const job = await jobEnds(stage, id)
  expect(job.progress).toMatchObject({ modelCalls: 3, toolCalls: 2, tool: null, costUsd: job.costUsd })
})
