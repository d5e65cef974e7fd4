/** The steps of the path, each built and called by itself, with an engine that starts nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { driveRun } from '../../../src/engine/path/drive.ts'
import { prepareAttempt } from '../../../src/engine/path/prepare.ts'
import { buildPath } from '../../support/memory/path.ts'
import { answers, dies } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open({ settings: { concurrency: 0 } })
})
afterEach(() => stage.close())

async function recordOf(id: RunId) {
  const run = await stage.store.getRun(id)
  if (!run) throw new Error(`there is no run ${id}`)
  return run
}

const admit = async (prompt = 'do it', sessionId?: string) =>
  recordOf(await stage.admit({ prompt, ...(sessionId ? { sessionId } : {}) }))

const BEHIND = {
  account: 'memory',
  model: null,
  kind: 'outage',
  message: 'nobody answers',
  resetsAt: null,
  since: new Date(0),
  nextTryAt: new Date(0),
  failures: 1,
  lastFailureAt: new Date(0),
  lastAttemptId: '',
} as const

describe('driving a run', () => {
  test('starts its agent, reads it to its end and settles it', async () => {
    stage.play(answers('done'))
    const run = await admit()
    await driveRun(buildPath(stage), run)
    expect(await stage.engine.getRun(run.id)).toMatchObject({ outcome: 'completed', resultText: 'done' })
  })

  test('copies the session when its turn ends, while its agent still runs, and once more at the end', async () => {
    const copied = Promise.withResolvers<void>()
    const order: string[] = []
    stage.play(async (agent) => {
      await agent.begin()
      agent.finish('done')
      // An agent whose session is copied only after its end would wait here for ever.
      await copied.promise
      order.push('agent ends')
      return agent.leave()
    })
    const run = await admit()
    const path = buildPath(stage)
    const catchUp = async () => {
      order.push('copy')
      copied.resolve()
      return true
    }
    await driveRun({ ...path, mirrors: { ...path.mirrors, catchUp } }, run)
    expect(order).toEqual(['copy', 'agent ends', 'copy'])
    expect(await stage.engine.getRun(run.id)).toMatchObject({ outcome: 'completed', resultText: 'done' })
  })

  test('leaves a run that must be tried again in the queue', async () => {
    stage.play(dies(1), answers('done'))
    const run = await admit()
    const path = buildPath(stage)
    await driveRun(path, run)
    expect(await stage.engine.getRun(run.id)).toMatchObject({ state: 'queued', attemptCount: 1 })
    await driveRun(path, await recordOf(run.id))
    expect(await stage.engine.getRun(run.id)).toMatchObject({ outcome: 'completed', attemptCount: 2 })
  })

  const passes = (pass: ReturnType<typeof buildPath>['obstacles']['pass']) => {
    const path = buildPath(stage)
    return { ...path, obstacles: { ...path.obstacles, pass } }
  }

  test('waits behind an obstacle', async () => {
    const run = await admit()
    await driveRun(
      passes(async () => ({ kind: 'wait' })),
      run,
    )
    expect(await stage.engine.getRun(run.id)).toMatchObject({ state: 'queued', attemptCount: 0 })
  })

  test('pauses a run that has waited too long, until a person continues it', async () => {
    const run = await admit()
    await driveRun(
      passes(async () => ({ kind: 'pause', behind: BEHIND, why: 'waited for a day' })),
      run,
    )
    expect(await stage.engine.getRun(run.id)).toMatchObject({ paused: true, message: 'waited for a day' })
  })

  test('settles a run that is not worth waiting any longer', async () => {
    const run = await admit()
    const outcome = { name: 'outage', message: 'waited in vain' } as const
    await driveRun(
      passes(async () => ({ kind: 'settle', outcome })),
      run,
    )
    expect(await stage.engine.getRun(run.id)).toMatchObject({ outcome: 'outage', message: 'waited in vain' })
    expect(stage.processes.starts()).toEqual([])
  })

  test('waits for a session that another run has leased meanwhile, and says so', async () => {
    const first = await admit('first question')
    await driveRun(buildPath(stage), first)
    const { sessionId } = await stage.engine.getRun(first.id)
    const [second, third] = [await admit('second', sessionId ?? ''), await admit('third', sessionId ?? '')]
    let finish = () => {}
    stage.play(async (agent) => {
      await agent.begin()
      await new Promise<void>((resolve) => (finish = resolve))
      agent.finish('done')
      return agent.leave()
    })
    const path = buildPath(stage)
    const driving = driveRun(path, second)
    await stage.until(async () => (await stage.eventsOf(second.id, 'prompt-accept')).length > 0)
    await driveRun(path, third)
    expect(await stage.engine.getRun(third.id)).toMatchObject({
      state: 'queued',
      message: 'another run is using the session',
    })
    finish()
    await driving
    await driveRun(path, await recordOf(third.id))
    expect(await stage.engine.getRun(third.id)).toMatchObject({ outcome: 'completed', resumed: true })
  })
})

describe('preparing an attempt', () => {
  test('plans the start of the agent, and changes nothing', async () => {
    const run = await admit('what is it?')
    const prepared = await prepareAttempt(buildPath(stage), run, 'a file was changed')
    if (prepared === 'busy') throw new Error('nobody uses the session')
    expect(prepared.attempt).toMatchObject({ resumed: false, freshReason: 'first-run', carry: 'none' })
    expect(prepared.plan.input).toHaveLength(1)
    expect(JSON.parse(prepared.plan.input[0]?.line ?? '')).toMatchObject({
      type: 'prompt',
      texts: [expect.stringContaining('a file was changed'), 'what is it?'],
    })
    expect(await stage.engine.getRun(run.id)).toMatchObject({ state: 'queued', attemptCount: 0 })
  })
})
