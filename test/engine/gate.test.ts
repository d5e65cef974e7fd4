/** The gate: what a run that is held to rules may do, as its agent is told. */
import { afterEach, expect, test } from 'vitest'
import { answers, type Script } from '../support/memory/script.ts'
import { Stage, type StageOptions } from '../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

/** Asks about each call, and says what it was told. */
const asks =
  (...calls: [string, unknown][]): Script =>
  async (agent) => {
    await agent.begin()
    const told: string[] = []
    for (const [tool, input] of calls) {
      const answer = await agent.ask(tool, input, 'hook')
      told.push(`${answer?.decision} ${answer?.message ?? ''}`.trim())
    }
    agent.finish(told.join('\n'))
    return agent.leave()
  }

test('a dry run may look, and change nothing', async () => {
  await open()
  stage.play(
    asks(
      ['Bash', { command: 'ls' }],
      ['Bash', { command: 'rm -r build' }],
      ['Write', { file_path: `${stage.workDir}/x`, content: 'x' }],
    ),
  )
  const run = await stage.run({ dryRun: true })
  const [looks, removes, writes] = run.resultText?.split('\n') ?? []
  expect(looks).toBe('pass')
  expect(removes).toMatch(/^deny .*dry run/i)
  expect(writes).toMatch(/^deny .*dry run/i)
  expect(await stage.eventsOf(run.id, 'refusal')).toMatchObject([{ dryRun: true }, { dryRun: true }])
  expect(stage.processes.starts()[0]).toMatchObject({ gated: true })
})

test('a run without rules is not asked about its calls', async () => {
  await open()
  stage.play(answers('done'))
  await stage.run()
  expect(stage.processes.starts()[0]).toMatchObject({ gated: false })
})

test('an agent that cannot be held to rules is not started for a run that must be', async () => {
  await open({ capabilities: { sealing: false } })
  expect(await stage.run({ dryRun: true })).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  expect(stage.processes.starts()).toEqual([])
})

test('when everything is a dry run, an agent that was free before is ended', async () => {
  await open()
  stage.play(async (agent) => {
    await agent.begin()
    return new Promise(() => {})
  })
  const id = await stage.admit()
  await stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)
  await stage.drop()
  await stage.reopen({ settings: { dryRun: true } })
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
})
