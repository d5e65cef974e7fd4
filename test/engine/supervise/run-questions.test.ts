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

test('what was allowed for the session is not asked again in it: the same command, nothing else', async () => {
  stage = await Stage.open()
  const asksFor =
    (...commands: string[]): Script =>
    async (agent) => {
      await agent.begin()
      const decisions: unknown[] = []
      for (const command of commands) {
        const answer = await agent.ask('Bash', { command, description: `${decisions.length}` })
        decisions.push(answer?.decision)
      }
      agent.finish(decisions.join())
      return agent.leave()
    }
  stage.play(asksFor('make', 'make', 'make clean'))
  const id = await stage.admit({ permissions: 'ask' })
  const [first] = await stage.pending(id)
  await stage.engine.answer(id, { toolUseId: first?.toolUseId ?? '', decision: 'allow', remember: true })
  // The second one was not asked for.
  await stage.until(async () =>
    (await stage.engine.getRun(id)).pending.some(({ input }) => JSON.stringify(input).includes('make clean')),
  )
  const [other] = await stage.pending(id)
  await stage.engine.answer(id, { toolUseId: other?.toolUseId ?? '', decision: 'deny' })
  const run = await stage.settled(id)
  expect(run.resultText).toBe('allow,allow,deny')

  stage.play(asksFor('make'))
  const again = await stage.admit({ permissions: 'ask', sessionId: run.session ?? '' })
  expect((await stage.settled(again)).resultText).toBe('allow')

  stage.play(asksFor('make'))
  const elsewhere = await stage.admit({ permissions: 'ask' })
  const [asked] = await stage.pending(elsewhere)
  await stage.engine.answer(elsewhere, { toolUseId: asked?.toolUseId ?? '', decision: 'deny' })
  expect((await stage.settled(elsewhere)).resultText).toBe('deny')
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
