/**
 * Questions of the agent reach a person, and the answers reach the agent, on the real CLI. Answers that do not fit, and
 * questions that nobody answers, are in test/engine/supervise/run-questions.test.ts.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { QUESTION } from '../support/question.ts'
import { World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  const touch = { tool: 'Bash', input: { command: 'touch $1', description: 'touch' } }
  world = await World.create({
    name: 'asks',
    rules: [
      {
        when: '/^ask$/',
        reply: [
          { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
          { await: 'results' },
          { text: 'Got: ${toolResult}' },
        ],
      },
      { when: '/^touch (.*)$/', reply: [touch, { await: 'results' }, { text: 'Result: ${toolResult}' }] },
    ],
  })
  await world.startDaemon()
})
afterAll(() => world.close())

async function pendingOf(id: string) {
  await world.waitForEvent(id, (e) => e.type === 'question-ask' || e.type === 'permission-ask')
  const { pending } = await world.getRun(id)
  expect(pending).toHaveLength(1)
  return pending[0]!
}

it('delivers the answer to a question', async () => {
  const { id } = await world.createRun({ prompt: 'ask' })
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

// The CLI asks by a request of its own, or by a hook.
it.each([
  ['ask', 'allow', true],
  ['ask', 'deny', false],
  ['ask-all', 'allow', true],
  ['ask-all', 'deny', false],
] as const)(
  'permissions %s: what a person answers (%s) is what happens',
  async (permissions, decision, happens) => {
    const file = `${permissions}-${decision}`
    const { id } = await world.createRun({ prompt: `touch ${file}`, permissions })
    const question = await pendingOf(id)
    expect(question).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
      input: { command: `touch ${file}` },
    })
    expect(existsSync(join(world.workDir, file))).toBe(false)
    await world.api('POST', `/api/runs/${id}/tool-result`, {
      toolUseId: question.toolUseId,
      decision,
      message: 'because I say so',
    })
    const run = await world.settled(id)
    expect(run.outcome).toBe('completed')
    expect(existsSync(join(world.workDir, file))).toBe(happens)
    if (!happens) expect(run.resultText).toContain('because I say so')
  },
)
