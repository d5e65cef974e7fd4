/** Answers that do not fit a question, come too late, or never come. */
import { afterEach, expect, test } from 'vitest'
import { RepriseError } from '../../../src/contract/errors.ts'
import type { ToolResult } from '../../../src/contract/question.ts'
import { HTTP_STATUS } from '../../../src/server/base/http-status.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const asks: Script = async (agent) => {
  await agent.begin()
  const answer = await agent.ask('Bash', { command: 'make' })
  if (answer === null) return 1
  agent.finish(`${answer.decision}`)
  return agent.leave()
}

test('wrong id, wrong kind of answer, second answer, answer after the end: a clear error each', async () => {
  stage = await Stage.open()
  stage.play(asks)
  const id = await stage.admit({ permissions: 'ask' })
  const [question] = await stage.pending(id)
  const toolUseId = question?.toolUseId ?? ''
  /** The status and the code of the error; null: it was accepted. */
  const answer = async (result: ToolResult) => {
    try {
      await stage.engine.answer(id, result)
      return null
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error
      return [HTTP_STATUS[error.code], error.code]
    }
  }
  expect(await answer({ toolUseId: 'wrong', decision: 'allow' })).toEqual([404, 'question-unknown'])
  expect(await answer({ toolUseId, answers: { a: 'b' } })).toEqual([400, 'bad-request'])
  const both = await Promise.all([
    answer({ toolUseId, decision: 'allow' }),
    answer({ toolUseId, decision: 'deny' }),
  ])
  expect(both.filter((refusal) => refusal === null)).toHaveLength(1)
  const [refusal] = both.filter((one) => one !== null)
  expect(refusal?.[0]).toBe(409)
  const run = await stage.settled(id)
  // The one that was accepted is the one that the agent was given.
  expect(run.resultText).toBe(both[0] === null ? 'allow' : 'deny')
  expect(await answer({ toolUseId, decision: 'allow' })).toEqual([409, 'run-settled'])
})

test('a question that nobody answers ends the run in a state that can be continued', async () => {
  stage = await Stage.open()
  stage.play(async (agent) => {
    await agent.begin()
    await agent.askUser('red or blue?', 'red', 'blue')
    return 1
  }, answers('never mind, then'))
  const id = await stage.admit()
  await stage.pending(id)
  stage.clock.advance(30 * 86_400_000)
  const run = await stage.settled(id)
  expect(run).toMatchObject({ outcome: 'question-timeout', pending: [] })
  const next = await stage.run({ prompt: 'never mind', sessionId: run.sessionId ?? '', maxResumes: 0 })
  expect(next).toMatchObject({ outcome: 'completed', resumed: true, resultText: 'never mind, then' })
  expect(stage.processes.starts().at(-1)?.prompt).toEqual(['never mind'])
})

test('what is always allowed is not asked again in the session, by any run; anything else is', async () => {
  stage = await Stage.open()
  const runs =
    (command: string): Script =>
    async (agent) => {
      await agent.begin()
      const answer = await agent.ask('Bash', { command }, 'prompt', { kind: 'shell', command })
      agent.finish(`${answer?.decision}`)
      return agent.leave()
    }
  stage.play(runs('make test'), runs('make test'), runs('make install'))
  const first = await stage.admit({ permissions: 'ask' })
  const [question] = await stage.pending(first)
  expect(question?.always).toBe('this command in this session')
  const toolUseId = question?.toolUseId ?? ''
  await stage.engine.answer(first, { toolUseId, decision: 'allow', always: true })
  const { sessionId } = await stage.settled(first)
  const inSession = { permissions: 'ask', sessionId: sessionId ?? '' } as const
  const again = await stage.run(inSession)
  expect(again).toMatchObject({ resultText: 'allow', resumed: true })
  const third = await stage.admit(inSession)
  const [other] = await stage.pending(third)
  await stage.engine.answer(third, { toolUseId: other?.toolUseId ?? '', decision: 'deny' })
  expect(await stage.settled(third)).toMatchObject({ resultText: 'deny' })
})
