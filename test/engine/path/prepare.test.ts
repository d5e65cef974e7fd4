/** Steps 2 and 4 of the path: whether an attempt resumes or starts fresh, and what the agent is told in either case. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { CreateRun } from '../../../src/contract/create-run.ts'
import type { FreshReason } from '../../../src/contract/run.ts'
import { answers, exits, hangs, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
let sessionId: string

/** A session in which one question was answered. */
async function begin(options?: StageOptions, first: Script = answers('first answer')): Promise<void> {
  stage = await Stage.open(options)
  stage.play(first)
  sessionId = (await stage.run({ prompt: 'first question' })).sessionId ?? ''
}
afterEach(() => stage.close())

const goOn = (request: Partial<CreateRun> = {}) =>
  stage.run({ sessionId, prompt: 'second question', ...request })
const lastPrompt = () => stage.processes.starts().at(-1)?.prompt ?? []

test('the first run of all starts fresh and is given its prompt as it is', async () => {
  await begin()
  const [start] = stage.processes.starts()
  expect(start).toMatchObject({ resume: false, prompt: ['first question'] })
  const [run] = (await stage.engine.listRuns({ limit: 1 })).items
  expect(run).toMatchObject({ freshReason: 'first-run', carry: 'none' })
})

test('a session that can be resumed is resumed, and told nothing that it knows', async () => {
  await begin()
  expect(await goOn()).toMatchObject({ resumed: true, freshReason: null, carry: 'none', sessionId })
  expect(lastPrompt()).toEqual(['second question'])
})

test('a torn transcript is mended and resumed', async () => {
  await begin()
  stage.transcripts.damage(sessionId, 'torn')
  const run = await goOn()
  expect(run).toMatchObject({ resumed: true })
  expect((await stage.notes(run.id)).join()).toContain('incomplete record')
})

describe('a fresh start is given the past, and says why', () => {
  const elsewhere = () => {
    const path = join(stage.workDir, 'elsewhere')
    mkdirSync(path)
    return path
  }
  type Change = () => Partial<CreateRun> | Promise<void> | void
  const cases: [FreshReason, Change][] = [
    ['forced', () => ({ forceFreshSession: true })],
    ['other-agent', () => ({ agent: 'other' })],
    ['other-work-dir', () => ({ workDir: elsewhere() })],
    ['other-runtime', () => stage.reopen({ capabilities: { fork: false } })],
    ['no-resume-capability', () => stage.reopen({ capabilities: { resume: false } })],
    ['expired', () => stage.clock.advance(3650 * 86_400_000)],
    ['transcript-missing', () => stage.transcripts.remove(sessionId)],
    ['transcript-unreadable', () => stage.transcripts.damage(sessionId, 'unreadable')],
    ['transcript-foreign', () => stage.transcripts.damage(sessionId, 'foreign')],
    ['transcript-behind', () => stage.transcripts.damage(sessionId, 'behind')],
    ['transcript-broken', () => stage.transcripts.damage(sessionId, 'broken')],
    ['transcript-forked', () => stage.transcripts.damage(sessionId, 'forked')],
    ['session-in-use', () => stage.transcripts.hold(sessionId, 1)],
  ]

  test.each(cases)('%s', async (reason, change) => {
    await begin()
    const request = (await change()) ?? {}
    const run = await goOn(request)
    expect(run).toMatchObject({ outcome: 'completed', resumed: false, freshReason: reason })
    expect(run).toMatchObject({ carry: 'transcript' })
    expect(run.sessionId).not.toBe(sessionId)
    const prompt = lastPrompt()
    expect(prompt.at(-1)).toBe('second question')
    expect(prompt.join('\n')).toContain('first question')
    expect(prompt.join('\n')).toContain('first answer')
  })

  test('no-prior-turn: nobody has spoken in the session, so there is nothing to tell', async () => {
    await begin({}, exits(127))
    // The second attempt is at the same run, in a session that was never used.
    const run = await stage.engine.listRuns({ limit: 1 })
    expect(run.items[0]).toMatchObject({ freshReason: 'no-prior-turn', carry: 'none' })
  })

  test('work that was begun is described, not repeated', async () => {
    await begin({}, async (agent) => {
      await agent.begin()
      agent.useTool('Bash', { command: 'make install' }, 'installed')
      stage.transcripts.remove(agent.start.agentSessionId)
      return 139
    })
    const [run] = (await stage.engine.listRuns({ limit: 1 })).items
    expect(run).toMatchObject({ freshReason: 'transcript-missing', carry: 'handoff', attemptCount: 2 })
    expect(lastPrompt().join('\n')).toContain('make install')
  })
})

test('a session that another run uses is waited for', async () => {
  await begin()
  stage.play(hangs)
  const first = await stage.admit({ sessionId, prompt: 'a long one' })
  await stage.until(async () => (await stage.eventsOf(first, 'prompt-accept')).length > 0)
  const second = await stage.admit({ sessionId, prompt: 'a second one' })
  expect(await stage.run({ prompt: 'in another session' })).toMatchObject({ outcome: 'completed' })
  expect(await stage.engine.getRun(second)).toMatchObject({ state: 'queued', attemptCount: 0 })
  await stage.engine.cancel(first)
  await stage.settled(first)
  expect(await stage.settled(second)).toMatchObject({ outcome: 'completed', resumed: true })
})

test('what somebody said in the session by hand is taken in, once', async () => {
  await begin()
  stage.transcripts.addOutside(sessionId, {
    id: 'by-hand-1',
    text: 'said by hand',
    answer: [{ type: 'text', text: 'answered by hand' }],
    saidAt: new Date(),
    inSession: true,
  })
  const second = await goOn()
  expect(second).toMatchObject({ resumed: true })
  expect((await stage.notes(second.id)).join()).toContain('outside Reprise')
  const third = await goOn({ prompt: 'third question', forceFreshSession: true })
  expect(await stage.notes(third.id)).toEqual([])
  expect(lastPrompt().join('\n')).toContain('said by hand')
})

test('a session that is too full is compacted, and then asked again', async () => {
  await begin()
  const overflows = answers('', { outcome: { name: 'context-overflow', message: 'too long' } })
  stage.play(overflows, answers('room made'), answers('second answer'))
  const run = await goOn()
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 3, resultText: 'second answer' })
  const [, , compacts, asks] = stage.processes.starts()
  expect(compacts).toMatchObject({ resume: true, prompt: ['/make-room'] })
  expect(asks).toMatchObject({ resume: true })
  expect(asks?.prompt.at(-1)).toBe('second question')
})
