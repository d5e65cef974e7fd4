/** The stored lifecycle of sessions: what people and the change feed are told, and what the clean-up does. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CleanUpDeps, cleanUpSessions } from '../../src/engine/sessions/clean-up.ts'
import { answers, exits, type Script } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

const MINUTE = 60_000

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const limited: Script = async (agent) => {
  await agent.begin()
  agent.finish('so far', { outcome: { name: 'turn-limit', message: 'enough' } })
  return agent.leave()
}

const stateOf = async (id: string) => (await stage.engine.getSession(id)).state

/** The states of the session in the change feed, without repetitions. */
async function told(id: string): Promise<(string | null)[]> {
  const { items } = await stage.store.listChanges({ after: 0, limit: 1000 })
  const states = items.filter((change) => change.kind === 'session' && change.id === id).map((c) => c.state)
  return states.filter((state, index) => state !== states[index - 1])
}

const cleanUp = (archiveSession?: CleanUpDeps['archiveSession']) =>
  cleanUpSessions({ ...stage.input(), ...(archiveSession ? { archiveSession } : {}) })

async function begin(script: Script = answers('first answer')): Promise<string> {
  stage.play(script)
  return (await stage.run({ prompt: 'first question' })).session ?? ''
}

describe('completed', () => {
  test('after a turn that the model ended; the feed has each transition', async () => {
    const id = await begin()
    expect(await stage.engine.getSession(id)).toMatchObject({
      state: 'completed',
      status: 'completed',
      turns: 1,
      messages: 2,
      origin: 'reprise',
    })
    expect(await told(id)).toEqual(['created', 'active', 'completed'])
  })

  test('is active during the next turn, which resumes it, and stays completed over time', async () => {
    const id = await begin()
    let during: string | null = null
    stage.play(async (agent) => {
      await agent.begin()
      during = await stateOf(id)
      agent.finish('done')
      return agent.leave()
    })
    expect(await stage.run({ sessionId: id })).toMatchObject({ resumed: true })
    expect(during).toBe('active')
    stage.clock.advance(60 * MINUTE)
    await cleanUp()
    expect(await stateOf(id)).toBe('completed')
  })

  test('not after a turn that was cut off by the output limit', async () => {
    const id = await begin(async (agent) => {
      await agent.begin()
      const outcome = { name: 'completed', message: 'completed' } as const
      agent.print({ type: 'turn-end', outcome, text: 'half', stopReason: 'max_tokens', cutOff: true })
      return agent.leave()
    })
    expect(await stage.engine.getSession(id)).toMatchObject({ state: 'active', stopReason: 'max_tokens' })
  })

  test('not while a follow-up is planned in it; again when that is cancelled', async () => {
    const id = await begin()
    const followUp = { prompt: 'later', sessionId: id, inMs: 48 * 60 * MINUTE }
    const planned = await stage.engine.createFollowUp(followUp)
    expect(await stateOf(id)).toBe('paused')
    stage.clock.advance(60 * MINUTE)
    await cleanUp()
    expect(await stage.engine.getSession(id)).toMatchObject({
      state: 'paused',
      followUps: [{ id: planned.id, state: 'planned', dueAt: planned.dueAt }],
    })
    await stage.engine.cancelFollowUp(planned.id)
    expect(await stateOf(id)).toBe('completed')
  })
})

describe('idle', () => {
  test('paused, then expired and archived once; nothing is lost, and asked for again it is active again', async () => {
    const id = await begin(limited)
    expect(await stage.engine.getSession(id)).toMatchObject({ state: 'active', stopReason: 'turn-limit' })
    await cleanUp()
    expect(await stateOf(id)).toBe('active')
    stage.clock.advance(6 * MINUTE)
    await cleanUp()
    expect(await stateOf(id)).toBe('paused')
    const archived: string[] = []
    const archive = async (session: { id: string; state: string }) => {
      archived.push(`${session.id} ${session.state}`)
      return true
    }
    stage.clock.advance(30 * MINUTE)
    await cleanUp(archive)
    await cleanUp(archive)
    expect(archived).toEqual([`${id} expired`])
    const session = await stage.engine.getSession(id)
    expect(session.archivedAt).not.toBeNull()
    expect(session.state).toBe('expired')
    expect(await told(id)).toEqual(['created', 'active', 'paused', 'expired'])

    expect(await stage.run({ sessionId: id })).toMatchObject({ resumed: true, session: id })
    expect(await stage.engine.getSession(id)).toMatchObject({ state: 'completed', archivedAt: null })
  })

  test('both steps at once if nobody looked in between, also when the daemon was down', async () => {
    const id = await begin(limited)
    await stage.drop()
    stage.clock.advance(60 * MINUTE)
    await stage.reopen()
    await stage.until(async () => (await stateOf(id)) === 'expired')
    expect(await told(id)).toEqual(['created', 'active', 'paused', 'expired'])
  })

  test('a failed archive is tried again at the next look', async () => {
    const id = await begin(limited)
    stage.clock.advance(60 * MINUTE)
    await cleanUp(async () => {
      throw new Error('no room')
    })
    expect(await stage.engine.getSession(id)).toMatchObject({ state: 'expired', archivedAt: null })
    expect(stage.logged.join()).toContain('no room')
    await cleanUp(async () => false)
    expect(await stage.engine.getSession(id)).toMatchObject({ state: 'expired', archivedAt: null })
    await cleanUp()
    expect((await stage.engine.getSession(id)).archivedAt).not.toBeNull()
  })

  test('expired is not the limit of the resume decision: that is resume.maxAge', async () => {
    const id = await begin(limited)
    stage.clock.advance(6 * 24 * 60 * MINUTE)
    await cleanUp()
    expect(await stage.run({ sessionId: id })).toMatchObject({ resumed: true })
    stage.clock.advance(8 * 24 * 60 * MINUTE)
    await cleanUp()
    expect(await stage.run({ sessionId: id })).toMatchObject({ resumed: false, freshReason: 'expired' })
  })

  test('a session that is in use is left alone', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    stage.play(async (agent) => {
      await agent.begin()
      await gate
      agent.finish('done')
      return agent.leave()
    })
    const id = await stage.admit()
    await stage.until(async () => {
      const { session } = await stage.engine.getRun(id)
      return session !== null && (await stateOf(session)) === 'active'
    })
    const { session } = await stage.engine.getRun(id)
    const late = {
      ...stage.input(),
      clock: {
        ...stage.clock,
        monotonicMs: () => stage.clock.monotonicMs(),
        now: () => new Date(stage.clock.now().getTime() + 60 * MINUTE),
      },
    }
    await cleanUpSessions(late)
    expect(await stateOf(session!)).toBe('active')
    go()
    await stage.settled(id)
  })
})

test('a session whose agent never took the prompt stays created, and expires', async () => {
  stage.play(exits(1), answers('at last'))
  const run = await stage.run()
  expect(await stateOf(run.session!)).toBe('completed')
  const [left] = (await stage.engine.listSessions({ limit: 10, status: 'created' })).items
  expect(left).toMatchObject({ turns: 0, messages: 0, stopReason: 'crashed' })
  stage.clock.advance(60 * MINUTE)
  await cleanUp()
  expect(await stateOf(left!.id)).toBe('expired')
})

test('lists by status, agent and directory; details have runs with their context', async () => {
  const completed = await begin()
  const cut = await begin(limited)
  const list = async (query: object) =>
    (await stage.engine.listSessions({ limit: 10, ...query })).items.map(({ id }) => id)
  expect(await list({ status: 'completed' })).toEqual([completed])
  expect(await list({ status: 'active' })).toEqual([cut])
  expect(await list({ status: 'expired' })).toEqual([])
  expect(await list({ agent: 'memory', workDir: stage.workDir })).toEqual([cut, completed])
  expect(await list({ agent: 'other' })).toEqual([])
  expect(await list({ workDir: '/elsewhere' })).toEqual([])
  const { runs, runIds } = await stage.engine.getSession(completed)
  expect(runs).toMatchObject([{ id: runIds[0], prompt: 'first question', outcome: 'completed' }])
})
