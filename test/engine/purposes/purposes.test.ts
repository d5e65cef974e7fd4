/** What each purpose adds to the one path: its context, its budget, its ending, its notices. */
import { afterEach, describe, expect, test } from 'vitest'
import type { CreateJob } from '../../../src/contract/create-job.ts'
import type { Signal } from '../../../src/contract/escalation.ts'
import { JobId, MessageId } from '../../../src/contract/ids.ts'
import { answers, dies, hangs, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

describe('a job', () => {
  const WEBHOOK = 'http://127.0.0.1:1/hook'
  const create = async (request: Partial<CreateJob> = {}) => {
    const asked = {
      prompt: 'do it',
      workDir: stage.workDir,
      checkpoints: false,
      webhook: WEBHOOK,
      ...request,
    }
    const { job } = await stage.engine.createJob(asked, null)
    if (!JobId.is(job.id)) throw new Error(job.id)
    return job
  }

  test('is told of when it is done', async () => {
    await open()
    stage.play(answers('done'))
    const job = await create()
    await stage.settled(job.runId)
    expect(await stage.engine.getJob(job.id)).toMatchObject({ state: 'completed' })
    expect(stage.told).toMatchObject([{ event: 'done', subject: { kind: 'job', id: job.id } }])
  })

  test('continues after a timeout, because nobody watches', async () => {
    await open()
    stage.play(hangs, answers('done'))
    const job = await create({ timeoutMs: 60_000 })
    await stage.until(async () => (await stage.eventsOf(job.runId, 'model-call')).length > 0)
    stage.clock.advance(61_000)
    expect(await stage.settled(job.runId)).toMatchObject({ outcome: 'completed', attemptCount: 2 })
  })

  test('tells people of a question', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      await agent.askUser('red or blue?', 'red', 'blue')
      agent.finish('painted')
      return agent.leave()
    })
    const job = await create()
    const [question] = await stage.pending(job.runId)
    await stage.until(() => stage.told.length > 0)
    expect(stage.told[0]).toMatchObject({ event: 'attention', payload: { attention: 'question' } })
    expect(stage.told[0]?.payload.message).toContain('red or blue?')
    await stage.engine.answer(job.runId, {
      toolUseId: question?.toolUseId ?? '',
      answers: { 'red or blue?': 'red' },
    })
    await stage.settled(job.runId)
  })

  test('pauses when its budget is used up, and continues when that is raised', async () => {
    await open()
    const spends = answers('so far', { outcome: { name: 'budget', message: 'spent' }, costUsd: 1 })
    stage.play(spends, answers('done', { costUsd: 1 }))
    const job = await create({ maxBudgetUsd: 1 })
    await stage.settled(job.runId)
    expect(await stage.engine.getJob(job.id)).toMatchObject({ state: 'paused', attention: 'budget' })
    expect(stage.told).toMatchObject([{ event: 'attention' }])
    await stage.engine.updateJob(job.id, { maxBudgetUsd: 5 })
    await stage.until(async () => (await stage.engine.getJob(job.id)).state === 'completed')
    expect(stage.processes.starts().map(({ maxBudgetUsd, resume }) => [maxBudgetUsd, resume])).toEqual([
      [1, false],
      [4, true],
    ])
  })

  test('whose budget is raised while it runs goes on in the same run', async () => {
    await open()
    let stop = () => {}
    stage.play(
      async (agent) => {
        await agent.begin()
        await new Promise<void>((resolve) => (stop = resolve))
        agent.finish('so far', { outcome: { name: 'budget', message: 'spent' }, costUsd: 1 })
        return agent.leave()
      },
      answers('done', { costUsd: 1 }),
    )
    const job = await create({ maxBudgetUsd: 1 })
    await stage.until(async () => (await stage.eventsOf(job.runId, 'model-call')).length > 0)
    await stage.engine.updateJob(job.id, { maxBudgetUsd: 5 })
    stop()
    expect(await stage.settled(job.runId)).toMatchObject({ outcome: 'completed', attemptCount: 2 })
    expect(await stage.notes(job.runId)).toContain('the budget was raised')
  })

  test('gives up when its interruptions add nothing', async () => {
    await open()
    const nothing: Script = async (agent) => {
      await agent.takePrompt()
      return 1
    }
    stage.play(nothing, nothing)
    const job = await create({ maxResumes: 2 })
    await stage.until(async () => {
      const { state, notBefore } = await stage.engine.getRun(job.runId)
      if (state === 'queued' && notBefore !== null) await stage.engine.continueRun(job.runId)
      return state === 'settled'
    })
    expect(await stage.engine.getJob(job.id)).toMatchObject({ state: 'failed' })
    expect(stage.told.at(-1)).toMatchObject({ event: 'failed' })
  })
})

describe('a turn of a conversation', () => {
  const begin = async () => {
    await open()
    const { id } = await stage.engine.createConversation({ workDir: stage.workDir })
    return id
  }
  type Conversation = Awaited<ReturnType<typeof begin>>
  const say = async (id: Conversation, text: string, agent?: string) => {
    const request = { text, ...(agent ? { agent } : {}) }
    return (await stage.engine.createTurn(id, request, null)).run
  }

  test('resumes the session with nothing but its text; the answer is kept in the conversation', async () => {
    const id = await begin()
    stage.play(answers('hello'), answers('fine'))
    await stage.settled((await say(id, 'hi')).id)
    const second = await stage.settled((await say(id, 'how are you?')).id)
    expect(second).toMatchObject({ resumed: true })
    const { prompt = [] } = stage.processes.starts()[1] ?? {}
    expect(prompt.at(-1)).toBe('how are you?')
    expect(prompt.join('\n')).not.toMatch(/\bhi\b|hello/)
    const { messages } = await stage.engine.getConversation(id)
    expect(messages.map(({ role, blocks }) => [role, blocks])).toEqual([
      ['user', [{ type: 'text', text: 'hi' }]],
      ['assistant', [{ type: 'text', text: 'hello' }]],
      ['user', [{ type: 'text', text: 'how are you?' }]],
      ['assistant', [{ type: 'text', text: 'fine' }]],
    ])
  })

  test('of another agent is given what was said before', async () => {
    const id = await begin()
    stage.play(answers('hello'), answers('me too'))
    await stage.settled((await say(id, 'hi')).id)
    const second = await stage.settled((await say(id, 'and you?', 'other')).id)
    expect(second).toMatchObject({ freshReason: 'other-agent', carry: 'transcript' })
    expect(stage.processes.starts()[1]?.prompt.join('\n')).toMatch(/hi.*hello.*and you\?$/s)
  })

  test('whose question is edited while it is answered is asked again', async () => {
    const id = await begin()
    stage.play(hangs, answers('yes'))
    const run = await say(id, 'is it read?')
    await stage.until(async () => (await stage.eventsOf(run.id, 'model-call')).length > 0)
    const [question] = (await stage.engine.getConversation(id)).messages
    if (!question || !MessageId.is(question.id)) throw new Error('no message')
    await stage.engine.editMessage(id, question.id, 'is it red?')
    expect(await stage.settled(run.id)).toMatchObject({ outcome: 'completed', resultText: 'yes' })
    expect(stage.processes.starts()[1]?.prompt.at(-1)).toBe('is it red?')
  })
})

describe('a tier', () => {
  const tiers = {
    1: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } },
    2: { model: 'memory-2', tools: ['Bash'], commands: { allow: ['ls *', 'restart *'] } },
  }
  const signal = (change: Partial<Signal>): Signal => ({
    status: 'down',
    summary: 'web does not answer',
    checks: [],
    services: [],
    actions: [],
    escalate: true,
    reason: 'it must be restarted',
    ...change,
  })
  const FIXED = signal({ status: 'fixed', escalate: false, reason: 'it works again' })

  test('is told who it is, and calls the next one, which continues in its session', async () => {
    await open({ config: { tiers } })
    stage.play(answers('', { structured: signal({}) }), answers('', { structured: FIXED }))
    const first = await stage.run({ tier: 1, prompt: 'look at web' })
    await stage.until(async () => (await stage.engine.getChain(first.id)).state !== 'running')
    const { runs } = await stage.engine.getChain(first.id)
    expect(runs.map(({ tier, outcome }) => [tier, outcome])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ])
    const [one, two] = stage.processes.starts()
    expect(one?.prompt.join('\n')).toMatch(/tier 1 of 2.*look at web$/s)
    expect(two).toMatchObject({ resume: true, model: 'memory-2', agentSessionId: one?.agentSessionId })
    expect(two?.prompt.join('\n')).toContain('it must be restarted')
  })

  test('may do what its rules allow, and nothing else', async () => {
    await open({ config: { tiers } })
    stage.play(async (agent) => {
      await agent.begin()
      const looks = await agent.ask('Bash', { command: 'ls -l' }, 'hook')
      const restarts = await agent.ask('Bash', { command: 'restart web' }, 'hook')
      agent.finish([looks, restarts].map((answer) => answer?.decision).join(), { structured: FIXED })
      return agent.leave()
    })
    const run = await stage.run({ tier: 1 })
    expect(run).toMatchObject({ resultText: 'allow,deny', refusals: 1 })
    const [refusal] = await stage.eventsOf(run.id, 'refusal')
    expect(refusal).toMatchObject({ tool: 'Bash', what: expect.stringContaining('restart web') })
  })

  test('that dies is resumed at its tier', async () => {
    await open({ config: { tiers } })
    stage.play(dies(139), answers('', { structured: FIXED }))
    const run = await stage.run({ tier: 1 })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  })
})

test('a follow-up that is not waited for is a run of its own, in the same session', async () => {
  await open({ config: { followUps: { hold: '0ms' } } })
  stage.play(async (agent) => {
    await agent.begin()
    await agent.ask('Later', { prompt: 'look again', inMs: 60_000 }, 'hook')
    agent.finish('planned')
    return agent.leave()
  }, answers('looked'))
  const first = await stage.run({ prompt: 'look' })
  stage.clock.advance(61_000)
  // Whatever wakes the timetable: another engine, for instance.
  await stage.engine.close()
  await stage.reopen()
  await stage.until(async () => (await stage.engine.listRuns({ limit: 10 })).items.length === 2)
  const [later] = (await stage.engine.listRuns({ limit: 10 })).items
  expect(await stage.settled(later?.id ?? '')).toMatchObject({ resumed: true, sessionId: first.sessionId })
  expect(stage.processes.starts()[1]?.prompt.join('\n')).toContain('look again')
})
