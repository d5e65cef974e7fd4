/** Step 5 of the path: an agent at work is read, answered, watched, and ended. */
import { afterEach, describe, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { hangs, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

const hasBegun = (id: RunId) =>
  stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)

/** Asks, and says what it was told. */
const asks: Script = async (agent) => {
  await agent.begin()
  const answer = await agent.ask('Bash', { command: 'make' })
  if (answer === null) return 1
  agent.finish(`${answer.decision}: ${answer.message ?? ''}`)
  return agent.leave()
}

describe('questions', () => {
  test.each(['allow', 'deny'] as const)('a person answers: %s', async (decision) => {
    await open()
    stage.play(asks)
    const id = await stage.admit({ permissions: 'ask' })
    const [question] = await stage.pending(id)
    expect(question).toMatchObject({ kind: 'permission', tool: 'Bash', input: { command: 'make' } })
    const toolUseId = question?.toolUseId ?? ''
    await stage.engine.answer(id, { toolUseId, decision, message: 'because' })
    expect(await stage.settled(id)).toMatchObject({ resultText: `${decision}: because` })
    expect(await stage.eventsOf(id, 'question-answer')).toMatchObject([{ decision, by: 'person' }])
  })

  test('permissions that allow everything answer at once', async () => {
    await open()
    stage.play(asks)
    const run = await stage.run({ permissions: 'allow' })
    expect(run.resultText).toMatch(/^allow/)
    expect(await stage.eventsOf(run.id, 'question-answer')).toMatchObject([{ by: 'policy' }])
  })

  test('a question to the user waits for a person, whatever the permissions', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      const answer = await agent.askUser('red or blue?', 'red', 'blue')
      agent.finish(JSON.stringify(answer?.answers))
      return agent.leave()
    })
    const id = await stage.admit({ permissions: 'allow' })
    const [question] = await stage.pending(id)
    expect(question?.questions).toMatchObject([{ question: 'red or blue?' }])
    await stage.engine.answer(id, {
      toolUseId: question?.toolUseId ?? '',
      answers: { 'red or blue?': 'blue' },
    })
    expect((await stage.settled(id)).resultText).toContain('blue')
  })

  test('an answer is given once, and to what is asked only', async () => {
    await open()
    stage.play(asks)
    const id = await stage.admit({ permissions: 'ask' })
    const [question] = await stage.pending(id)
    const answer = { toolUseId: question?.toolUseId ?? '', decision: 'allow' as const }
    await expect(stage.engine.answer(id, { ...answer, toolUseId: 'another' })).rejects.toThrow()
    await stage.engine.answer(id, answer)
    await stage.settled(id)
    await expect(stage.engine.answer(id, answer)).rejects.toMatchObject({ code: 'run-settled' })
  })

  test('a question that nobody answers in time ends the attempt', async () => {
    await open()
    stage.play(asks)
    const id = await stage.admit({ permissions: 'ask' })
    await stage.pending(id)
    stage.clock.advance(30 * 86_400_000)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'question-timeout' })
  })
})

describe('limits', () => {
  test('an agent that prints nothing is ended', async () => {
    await open()
    stage.play(hangs)
    const id = await stage.admit({ maxResumes: 0 })
    await hasBegun(id)
    // The model was called and has answered: the agent is at fault.
    stage.clock.advance(11 * 60_000)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'timed-out' })
    expect(await stage.eventsOf(id, 'stop-request')).toMatchObject([{ cause: 'silent' }])
  })

  test('an agent that works longer than it may is ended', async () => {
    await open()
    stage.play(hangs)
    const id = await stage.admit({ maxDurationMs: 60_000 })
    await hasBegun(id)
    stage.clock.advance(61_000)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'timed-out' })
  })

  test('an agent that prints more than it may is ended', async () => {
    await open({ settings: { maxOutputBytes: 10_000 } })
    stage.play(async (agent) => {
      await agent.begin()
      agent.printText(`${'x'.repeat(20_000)}\n`)
      return new Promise(() => {})
    })
    expect(await stage.run()).toMatchObject({ outcome: 'output-limit' })
  })

  test('an agent that does not exit after its result is ended, and has completed', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      agent.finish('done')
      return new Promise(() => {})
    })
    const id = await stage.admit()
    await stage.until(async () => (await stage.eventsOf(id, 'turn-end')).length > 0)
    await stage.until(() => stage.processes.all().length === 1)
    stage.clock.advance(60_000)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'done' })
  })

  test('an agent that ignores what it is told is killed', async () => {
    await open()
    stage.play(async (agent) => {
      agent.ignoreStop()
      await agent.begin()
      return new Promise(() => {})
    })
    const id = await stage.admit()
    await hasBegun(id)
    await stage.engine.cancel(id)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
    expect(stage.processes.all().map(({ alive, exitCode }) => [alive, exitCode])).toEqual([[false, null]])
  })

  test('the first reason for a stop is the one that is told', async () => {
    await open()
    let leave = () => {}
    stage.play(async (agent) => {
      await agent.begin()
      await new Promise<void>((resolve) => (leave = resolve))
      return 143
    })
    const id = await stage.admit({ maxDurationMs: 60_000, maxResumes: 0 })
    await hasBegun(id)
    await stage.engine.cancel(id)
    stage.clock.advance(61_000)
    leave()
    expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
    expect(await stage.eventsOf(id, 'stop-request')).toMatchObject([{ cause: 'cancelled' }])
  })

  test('the agent is told of a stop before it is ended', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      for (let line = await agent.next(); line; line = await agent.next())
        if (line.type === 'stop') agent.print({ type: 'text-end', text: `told: ${line.cause}` })
      return 0
    })
    const id = await stage.admit()
    await hasBegun(id)
    await stage.engine.cancel(id)
    await stage.settled(id)
    expect(await stage.eventsOf(id, 'text-end')).toMatchObject([{ text: 'told: cancelled' }])
    expect(await stage.eventsOf(id, 'attempt-end')).toMatchObject([{ exitCode: 0 }])
  })

  test('the call to the model that uses up the budget is the last', async () => {
    await open({
      purposes: (plain) => [
        {
          ...plain,
          name: 'poor',
          claims: () => true,
          readAllowance: async () => ({
            budget: { usd: null, tokens: 1000 },
            before: { usd: 0, tokens: 500 },
          }),
        },
      ],
    })
    stage.play(async (agent) => {
      await agent.begin()
      agent.callModel(500)
      return new Promise(() => {})
    })
    const run = await stage.run()
    expect(run).toMatchObject({ outcome: 'budget', attemptCount: 1 })
    expect(await stage.eventsOf(run.id, 'stop-request')).toMatchObject([{ cause: 'budget' }])
  })
})

describe('follow-ups', () => {
  const plans = (inMs: number): Script => {
    return async (agent) => {
      await agent.begin()
      const told = await agent.ask('Later', { prompt: 'look again', inMs }, 'hook')
      agent.finish(`told: ${told?.message}`)
      const texts = await agent.takePrompt()
      if (texts === null) return 0
      agent.callModel()
      agent.finish(`given: ${texts.join(' ')}`)
      return agent.leave()
    }
  }

  test('one that is due soon is given to the waiting process', async () => {
    await open()
    stage.play(plans(60_000))
    const id = await stage.admit()
    await stage.until(async () =>
      (await stage.notes(id)).some((note) => note.includes('the process is kept for follow-up')),
    )
    stage.clock.advance(61_000)
    const run = await stage.settled(id)
    expect(run.resultText).toContain('look again')
    expect(stage.processes.starts()).toHaveLength(1)
    expect(run.followUps).toMatchObject([{ state: 'fired' }])
  })

  test('one that is due later does not keep the process', async () => {
    await open()
    stage.play(plans(86_400_000))
    const run = await stage.run()
    expect(run.resultText).toMatch(/told: .*no error/)
    expect(run.followUps).toMatchObject([{ state: 'planned', prompt: 'look again' }])
  })
})

test('while nothing can be stored the agent goes on; then all is stored, and the run is told', async () => {
  await open()
  const { advanceAttempt } = stage.store
  let refusals = 2
  stage.store.advanceAttempt = async (...asked) => {
    if (refusals-- > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    return advanceAttempt(...asked)
  }
  const run = await stage.run()
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'done', attemptCount: 1 })
  expect((await stage.notes(run.id)).join()).toContain('no space left')
  expect(await stage.eventsOf(run.id, 'prompt-accept')).toHaveLength(1)
})

test('an engine that closes lets go of its agents; the next one continues with them', async () => {
  await open()
  let finish = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    await new Promise<void>((resolve) => (finish = resolve))
    agent.finish('done')
    return agent.leave()
  })
  const id = await stage.admit()
  await hasBegun(id)
  await stage.engine.close()
  expect(stage.processes.all()[0]?.alive).toBe(true)
  await stage.reopen()
  finish()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(await stage.eventsOf(id, 'prompt-accept')).toHaveLength(1)
})
