/** Questions of the agent reach a person, and the answers reach the agent, on the real CLI. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { QUESTION } from '../support/question.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const ask: RuleInput = {
  reply: [
    { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
    { await: 'results' },
    { text: 'Got: ${toolResult}' },
  ],
}
const touch = (file: string): RuleInput => ({
  reply: [
    { tool: 'Bash', input: { command: `touch ${file}`, description: 'touch' } },
    { await: 'results' },
    { text: 'Result: ${toolResult}' },
  ],
})

async function pendingOf(id: string) {
  await world.waitForEvent(id, (e) => e.type === 'question-ask' || e.type === 'permission-ask')
  const { pending } = await world.getRun(id)
  expect(pending).toHaveLength(1)
  return pending[0]!
}

it('delivers the answer to a question', async () => {
  world = await World.create({ name: 'ask', rules: [ask] })
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'go' })
  const question = await pendingOf(id)
  expect(question).toMatchObject({ kind: 'question', questions: [{ question: 'Which colour?' }] })
  await world.api('POST', `/api/runs/${id}/tool-result`, {
    toolUseId: question.toolUseId,
    answers: { 'Which colour?': 'Blue' },
  })
  const run = await world.settled(id)
  expect(run.outcome).toBe('completed')
  expect(run.resultText).toContain('Blue')
  expect(run.pending).toEqual([])
})

it.each([
  ['ask', 'allow', true],
  ['ask', 'deny', false],
  ['ask-all', 'allow', true],
  ['ask-all', 'deny', false],
] as const)(
  'permissions %s: what a person answers (%s) is what happens',
  async (permissions, decision, happens) => {
    world = await World.create({ name: 'touch', rules: [touch('made')] })
    await world.startDaemon()
    const { id } = await world.createRun({ prompt: 'go', permissions })
    const question = await pendingOf(id)
    expect(question).toMatchObject({ kind: 'permission', tool: 'Bash', input: { command: 'touch made' } })
    expect(existsSync(join(world.workDir, 'made'))).toBe(false)
    await world.api('POST', `/api/runs/${id}/tool-result`, {
      toolUseId: question.toolUseId,
      decision,
      message: 'because I say so',
    })
    const run = await world.settled(id)
    expect(run.outcome).toBe('completed')
    expect(existsSync(join(world.workDir, 'made'))).toBe(happens)
    if (!happens) expect(run.resultText).toContain('because I say so')
  },
)

it('wrong id, wrong kind of answer, second answer, answer after the end: a clear error each', async () => {
  world = await World.create({ name: 'touch', rules: [touch('made')] })
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'go', permissions: 'ask' })
  const { toolUseId } = await pendingOf(id)
  const answer = async (body: object) => {
    const response = await world.request('POST', `/api/runs/${id}/tool-result`, body)
    return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code]
  }
  expect(await answer({ toolUseId: 'toolu_wrong', decision: 'allow' })).toEqual([404, 'question-unknown'])
  expect(await answer({ toolUseId, answers: { a: 'b' } })).toEqual([400, 'bad-request'])
  const [first, second] = await Promise.all([
    answer({ toolUseId, decision: 'allow' }),
    answer({ toolUseId, decision: 'deny' }),
  ])
  expect([first[0], second[0]].sort()).toEqual([200, 409])
  await world.settled(id)
  expect(await answer({ toolUseId, decision: 'allow' })).toEqual([409, 'run-settled'])
})

it('a question that nobody answers ends the run in a state that can be continued', async () => {
  world = await World.create(
    { name: 'ask', rules: [{ ...ask, times: 1 }, { reply: 'You said: ${user}' }] },
    { run: { questionTimeout: '1s', termAfter: '1s', killAfter: '1s' } },
  )
  await world.startDaemon()
  const run = await world.run({ prompt: 'go' })
  expect(run.outcome).toBe('question-timeout')
  const next = await world.run({ prompt: 'never mind', sessionId: run.session! })
  expect(next).toMatchObject({ outcome: 'completed', resumed: true, resultText: 'You said: never mind' })
})
