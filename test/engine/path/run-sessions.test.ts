/** Sessions over several runs: by which names they are found, where they are continued, and what follows a fresh start. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answers, exits, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

async function begin(answer = 'first answer') {
  stage.play(answers(answer))
  const run = await stage.run({ prompt: 'first question' })
  return { session: run.session ?? '', sessionId: run.sessionId ?? '' }
}

test("a session is found by our id and by the agent's own, for runs and for follow-ups", async () => {
  const { session, sessionId } = await begin()
  for (const name of [session, sessionId])
    expect(await stage.run({ sessionId: name })).toMatchObject({ session, sessionId, resumed: true })
  const followUp = { prompt: 'later', sessionId, inMs: 3_600_000 }
  expect(await stage.engine.createFollowUp(followUp)).toMatchObject({ session })
})

test('through a symlink to its directory it is resumed; elsewhere, all its turns are told to a new one', async () => {
  const { sessionId } = await begin()
  const [link, elsewhere] = [join(stage.workDir, 'link'), join(stage.workDir, 'elsewhere')]
  symlinkSync(stage.workDir, link)
  mkdirSync(elsewhere)
  stage.play(answers('second answer'))
  const same = await stage.run({ prompt: 'second question', sessionId, workDir: link })
  expect(same).toMatchObject({ resumed: true, sessionId })
  const other = await stage.run({ prompt: 'third question', sessionId, workDir: elsewhere })
  expect(other).toMatchObject({ resumed: false, freshReason: 'other-work-dir', carry: 'transcript' })
  for (const text of ['first question', 'first answer', 'second question', 'second answer', 'third question'])
    expect(lastPrompt()).toContain(text)
})

test('a new session that was asked for is the one that is continued', async () => {
  const { session, sessionId } = await begin()
  const forced = await stage.run({ prompt: 'anew', sessionId: session, forceFreshSession: true })
  expect(forced).toMatchObject({ resumed: false, freshReason: 'forced', carry: 'transcript' })
  expect(forced.sessionId).not.toBe(sessionId)
  expect(lastPrompt()).toContain('first answer')
  const next = await stage.run({ prompt: 'and then?', sessionId: forced.session ?? '' })
  expect(next).toMatchObject({ resumed: true, sessionId: forced.sessionId })
})

test('a session that was refused once is not tried again', async () => {
  const { session } = await begin()
  stage.play(exits(1), answers('second answer'))
  const second = await stage.run({ prompt: 'second question', sessionId: session })
  expect(second).toMatchObject({ outcome: 'completed', attemptCount: 2, freshReason: 'refused' })
  const third = await stage.run({ prompt: 'third question', sessionId: session })
  expect(third).toMatchObject({ resumed: false, freshReason: 'refused', attemptCount: 1 })
})

test('two prompts that are given to one session at once are answered one after the other, and neither is lost', async () => {
  const { session, sessionId } = await begin()
  let finish = () => {}
  const waits: Script = async (agent) => {
    await agent.begin()
    await new Promise<void>((resolve) => (finish = resolve))
    agent.finish('answer one')
    return agent.leave()
  }
  stage.play(waits, answers('answer two'))
  const one = await stage.admit({ prompt: 'one', sessionId: session })
  await stage.until(async () => (await stage.eventsOf(one, 'prompt-accept')).length > 0)
  const two = await stage.admit({ prompt: 'two', sessionId: session })
  expect((await stage.engine.getRun(two)).state).toBe('queued')
  finish()
  const runs = [await stage.settled(one), await stage.settled(two)]
  expect(runs.map((run) => [run.outcome, run.resumed, run.sessionId, run.resultText])).toEqual([
    ['completed', true, sessionId, 'answer one'],
    ['completed', true, sessionId, 'answer two'],
  ])
  // The session knows what was said before.
  expect(stage.processes.starts().map(({ prompt }) => prompt)).toEqual([['first question'], ['one'], ['two']])
})

test('a session that another process had open is resumed when it is closed', async () => {
  const { session, sessionId } = await begin()
  stage.transcripts.hold(sessionId, 1)
  const second = await stage.run({ prompt: 'second question', sessionId: session })
  expect(second).toMatchObject({ resumed: false, freshReason: 'session-in-use', carry: 'transcript' })
  stage.transcripts.release(sessionId)
  expect(await stage.run({ prompt: 'third question', sessionId: session })).toMatchObject({ resumed: true })
})

test('an agent that died before it accepted the prompt is given the prompt again, and nothing else', async () => {
  stage.play(exits(137), answers('done'))
  const run = await stage.run({ prompt: 'hello' })
  expect(run).toMatchObject({
    outcome: 'completed',
    attemptCount: 2,
    resumed: false,
    freshReason: 'no-prior-turn',
    carry: 'none',
  })
  expect(stage.processes.starts().map(({ prompt }) => prompt)).toEqual([['hello'], ['hello']])
})

test('a session that is gone after its agent died mid-tool: a new one is told that the outcome is unknown', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    agent.print({ type: 'tool-start', toolUseId: 'tool-1', name: 'Bash', input: { command: 'make install' } })
    stage.transcripts.remove(agent.start.agentSessionId)
    return 137
  }, answers('done'))
  const run = await stage.run({ prompt: 'begin the work' })
  expect(run).toMatchObject({
    outcome: 'completed',
    attemptCount: 2,
    resumed: false,
    freshReason: 'transcript-missing',
    carry: 'handoff',
  })
  expect(lastPrompt()).toContain('make install')
  expect(lastPrompt()).toContain('outcome unknown')
  expect(lastPrompt().trimEnd().endsWith('begin the work')).toBe(true)
})
