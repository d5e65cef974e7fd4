/** Steps 6 and 7 of the path: how an attempt that ended is judged, and what follows for its run. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/contract/outcome.ts'
import { answers, dies, exits, hangs, KILLED, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

const ends = (outcome: Outcome): Script => answers('', { outcome })

describe('what settles a run', () => {
  test('an answer, with its text and what it cost', async () => {
    await open()
    stage.play(answers('42', { costUsd: 0.5 }))
    const run = await stage.run({ prompt: 'what is it?' })
    expect(run).toMatchObject({ outcome: 'completed', resultText: '42', costUsd: 0.5, attemptCount: 1 })
    const types = (await stage.events(run.id)).map(({ type }) => type)
    expect(types[0]).toBe('attempt-start')
    expect(types.slice(-2)).toEqual(['attempt-end', 'run-end'])
  })

  test.each<Outcome>([
    { name: 'auth', message: 'please log in' },
    { name: 'turn-limit', message: 'took all turns' },
    { name: 'budget', message: 'spent it all' },
    { name: 'api-error', message: 'no such model', apiStatus: 404 },
    { name: 'context-overflow', message: 'too long' },
  ])('what is not cured by another attempt: $name', async (outcome) => {
    await open()
    stage.play(ends(outcome))
    const run = await stage.run()
    expect(run).toMatchObject({ outcome: outcome.name, message: outcome.message, attemptCount: 1 })
  })

  test('a crash, if no resume is allowed', async () => {
    await open()
    stage.play(dies(139))
    expect(await stage.run({ maxResumes: 0 })).toMatchObject({ outcome: 'crashed', attemptCount: 1 })
  })

  test('a cancel, although the agent died of it', async () => {
    await open()
    stage.play(hangs)
    const id = await stage.admit()
    await stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)
    await stage.engine.cancel(id)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled', attemptCount: 1 })
  })
})

describe('what is tried again', () => {
  test.each([
    ['crashed', 139],
    ['killed together with its keeper', KILLED],
  ])('an agent that %s: the session is resumed, and told what happened', async (_, end) => {
    await open()
    const works: Script = async (agent) => {
      await agent.begin()
      agent.useTool('Bash', { command: 'make' }, 'built')
      return end
    }
    stage.play(works, answers('done'))
    const run = await stage.run({ prompt: 'build it' })
    expect(run).toMatchObject({ outcome: 'completed', resultText: 'done', attemptCount: 2, resumed: true })
    const [first, second] = stage.processes.starts()
    expect(second).toMatchObject({ resume: true, agentSessionId: first?.agentSessionId })
    // The session has the prompt already.
    expect(second?.prompt.join('\n')).toMatch(/interrupted|make/)
    expect(second?.prompt.join('\n')).not.toContain('build it')
  })

  test('a second crash waits before the third attempt, and says so', async () => {
    await open()
    stage.play(dies(1), dies(1), answers('at last'))
    const id = await stage.admit()
    await stage.until(
      async () => (await stage.engine.getRun(id)).notBefore !== null && stage.processes.starts().length === 2,
    )
    const waiting = await stage.engine.getRun(id)
    expect(waiting).toMatchObject({ state: 'queued', attemptCount: 2 })
    expect(waiting.message).toMatch(/exited with 1.*2 of 5/)
    expect(Date.parse(waiting.notBefore ?? '')).toBeGreaterThan(Date.now())
    await stage.engine.continueRun(id)
    expect(await stage.settled(id)).toMatchObject({ resultText: 'at last', attemptCount: 3 })
  })

  test('a crash in the middle of a line keeps what was printed', async () => {
    await open()
    stage.play(async (agent) => {
      await agent.begin()
      agent.printText('{"type":"text-e')
      return 139
    })
    const run = await stage.run({ maxResumes: 0 })
    expect(await stage.eventsOf(run.id, 'raw-line')).toMatchObject([{ text: '{"type":"text-e' }])
  })

  test('turns that were used up, while the run may take more', async () => {
    await open()
    stage.play(ends({ name: 'turn-limit', message: 'took 2 turns' }), answers('done'))
    const run = await stage.run({ maxTurns: 2, continue: true, maxTurnsTotal: 4 })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2 })
    expect(stage.processes.starts().map(({ maxTurns, resume }) => [maxTurns, resume])).toEqual([
      [2, false],
      [2, true],
    ])
  })

  test('a limit: the run waits until it resets, and keeps its session', async () => {
    await open()
    const resetsAt = new Date(Date.now() + 3_600_000).toISOString()
    stage.play(ends({ name: 'rate-limited', message: 'limit reached', resetsAt }), answers('later'))
    const id = await stage.admit()
    await stage.until(async () => (await stage.engine.getRun(id)).message !== null)
    const waiting = await stage.engine.getRun(id)
    expect(waiting).toMatchObject({ state: 'queued', paused: false, attemptCount: 1 })
    expect(Date.parse(waiting.notBefore ?? '')).toBeGreaterThanOrEqual(Date.parse(resetsAt))
    await stage.engine.continueRun(id)
    expect(await stage.settled(id)).toMatchObject({ resultText: 'later', resumed: true })
  })

  test('an outage that lasts longer than it may: a person has to continue the run', async () => {
    await open({ settings: { outageLimitMs: 0 } })
    stage.play(ends({ name: 'outage', message: 'nobody answers', scope: 'account' }), answers('back'))
    const id = await stage.admit()
    await stage.until(async () => (await stage.engine.getRun(id)).paused)
    expect((await stage.engine.getRun(id)).message).toContain(id)
    await stage.engine.continueRun(id)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'back' })
  })
})

describe('a resume that is refused', () => {
  const sessionOf = async () => {
    const { sessionId } = await stage.run({ prompt: 'first question' })
    return sessionId ?? ''
  }

  test('is followed by one fresh attempt, which is given the history', async () => {
    await open()
    stage.play(answers('first answer'), exits(1), answers('second answer'))
    const run = await stage.run({ sessionId: await sessionOf(), prompt: 'second question' })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, freshReason: 'refused' })
    const prompt = stage.processes.starts().at(-1)?.prompt.join('\n')
    for (const part of ['first question', 'first answer', 'second question']) expect(prompt).toContain(part)
  })

  test('is no fault of the session if the fresh attempt fails alike: it is returned to', async () => {
    await open()
    stage.play(answers('first answer'), exits(1), exits(1), answers('second answer'))
    const sessionId = await sessionOf()
    const run = await stage.run({ sessionId, prompt: 'second question' })
    expect(run).toMatchObject({ outcome: 'completed', sessionId, resumed: true })
    expect(stage.processes.starts().map(({ resume }) => resume)).toEqual([false, true, false, true])
  })

  test('by the model, which does not take the history: one fresh attempt', async () => {
    await open()
    const refuses = ends({ name: 'api-error', message: 'invalid history', historyRefused: true })
    stage.play(answers('first answer'), refuses, answers('second answer'))
    const run = await stage.run({ sessionId: await sessionOf(), prompt: 'second question' })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, freshReason: 'poisoned' })
  })

  test('a resumed agent that was killed has refused nothing', async () => {
    await open()
    stage.play(answers('first answer'), exits(137), answers('second answer'))
    const run = await stage.run({ sessionId: await sessionOf(), prompt: 'second question' })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  })
})

test('what the agent left behind is ended and counted', async () => {
  await open()
  stage.play(async (agent) => {
    await agent.begin()
    agent.leaveStray()
    agent.finish('done')
    return agent.leave()
  })
  const run = await stage.run()
  expect(await stage.eventsOf(run.id, 'attempt-end')).toMatchObject([{ strays: 1, exitCode: 0 }])
})
