/** What happens when: watches, cycles and follow-ups on a clock that the test moves. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FollowUpId, RunId } from '../../src/contract/ids.ts'
import type { Planned } from '../../src/engine/follow-ups/plan.ts'
import { describeEscalation } from '../../src/engine/tiers/chain.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { admitted, at } from '../store/records.ts'
import { newFollowUp, ROOM } from '../store/watch-records.ts'
import { DAY, HOUR, MINUTE, Stage } from './stage.ts'

const readAllowance = (stage: Stage, run: RunRecord) => stage.purposes.of(run).readAllowance(run)

const idOf = (planned: Planned): FollowUpId => {
  if (!planned.ok) throw new Error(planned.reason)
  return planned.followUp.id
}

/** A stage with a cycle whose first run is open. */
async function withCycle(...options: Parameters<typeof Stage.set>) {
  const stage = await Stage.set(...options)
  await stage.watch({ maxDurationMs: HOUR })
  await stage.watches.triggerWatch('services', {})
  await stage.quiet()
  return { stage, run: await stage.openRun() }
}

const stateOf = async (stage: Stage, id: FollowUpId) => (await stage.store.getFollowUp(id))?.state

describe('a watch', () => {
  it('fires at its time and not before, every time, and does not drift', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE })
    await stage.pass(10 * MINUTE - 1)
    expect(await stage.cycles()).toEqual([])
    await stage.pass(1)
    const run = await stage.openRun()
    expect(run).toMatchObject({ prompt: 'look around', workDir: stage.dir, links: { tier: 1 } })
    await stage.settle(run)
    // The daemon was busy for half a minute.
    await stage.pass(10 * MINUTE + 30_000)
    await stage.settle(await stage.openRun())
    await stage.pass(9 * MINUTE + 29_999)
    expect(await stage.cycles()).toHaveLength(2)
    await stage.pass(1)
    expect(await stage.cycles()).toMatchObject([
      { number: 1, state: 'ended', outcome: 'completed', trigger: 'schedule', status: 'healthy' },
      { number: 2, state: 'ended', outcome: 'completed', trigger: 'schedule' },
      { number: 3, state: 'open', trigger: 'schedule' },
    ])
  })

  it('fires more often while it is not healthy, also after a restart, and then as before', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: HOUR, everyWhileNotHealthyMs: 5 * MINUTE })
    const nextInMs = async () =>
      Date.parse((await stage.watches.getWatch('services')).nextAt ?? '') - stage.now.getTime()
    await stage.pass(HOUR)
    await stage.settle(await stage.openRun(), { status: 'down' })
    expect(await nextInMs()).toBe(5 * MINUTE)
    await stage.restart()
    await stage.pass(5 * MINUTE)
    const run = await stage.openRun()
    // The cycle takes longer than the interval.
    await stage.pass(7 * MINUTE)
    await stage.settle(run, { status: 'degraded' })
    expect(await nextInMs()).toBe(3 * MINUTE)
    await stage.pass(3 * MINUTE)
    await stage.settle(await stage.openRun(), { status: 'fixed' })
    expect(await nextInMs()).toBe(HOUR)
    expect((await stage.cycles()).map(({ trigger }) => trigger)).toEqual(Array(3).fill('schedule'))
    // It is not healthy once more, and a cycle that a person starts finds it healthy again.
    await stage.pass(HOUR)
    await stage.settle(await stage.openRun(), { status: 'down' })
    await stage.pass(MINUTE)
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    await stage.settle(await stage.openRun())
    expect(await nextInMs()).toBe(HOUR)
    expect(await stage.watches.getWatch('services')).toMatchObject({
      schedule: 'every 1 h, every 5 min while not healthy',
    })
  })

  it('fires late by its jitter, and counts from its scheduled time', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, jitterMs: 4 * MINUTE })
    await stage.pass(12 * MINUTE - 1)
    expect(await stage.cycles()).toEqual([])
    await stage.pass(1)
    expect(await stage.cycles()).toMatchObject([{ state: 'open', trigger: 'schedule' }])
    expect(await stage.watches.getWatch('services')).toMatchObject({ nextAt: at(22 * 60).toISOString() })
  })

  it('catches up once with what it missed while the daemon was down', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE })
    await stage.close()
    stage.open()
    await stage.pass(35 * MINUTE)
    expect(await stage.cycles()).toMatchObject([{ state: 'open', trigger: 'catch-up', number: 1 }])
    expect(await stage.watches.getWatch('services')).toMatchObject({ nextAt: at(40 * 60).toISOString() })
    const [cycle] = await stage.cycles()
    expect(cycle?.reason).toContain('2 more missed')
    await stage.settle(await stage.openRun())
    await stage.pass(5 * MINUTE)
    expect(await stage.cycles()).toMatchObject([{ state: 'ended' }, { state: 'open', trigger: 'schedule' }])
  })

  it('skips firings while its cycle is open, and continues when it has ended', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, maxDurationMs: DAY })
    await stage.pass(10 * MINUTE)
    const run = await stage.openRun()
    await stage.pass(10 * MINUTE)
    await stage.pass(10 * MINUTE)
    expect(await stage.states()).toEqual(['open', 'skipped', 'skipped'])
    expect((await stage.cycles())[1]).toMatchObject({ message: 'the previous cycle had not ended' })
    await stage.settle(run)
    await stage.pass(10 * MINUTE)
    expect(await stage.states()).toEqual(['completed', 'skipped', 'skipped', 'open'])
    expect(await stage.runs()).toHaveLength(2)
  })

  it('queues one instead, if configured', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, maxDurationMs: DAY, overlap: 'queue' })
    await stage.pass(10 * MINUTE)
    const run = await stage.openRun()
    await stage.pass(10 * MINUTE)
    await stage.pass(10 * MINUTE)
    expect(await stage.states()).toEqual(['open', 'queued', 'skipped'])
    await stage.settle(run)
    expect(await stage.states()).toEqual(['completed', 'open', 'skipped'])
    expect((await stage.openRun()).links.cycleId).toBe((await stage.cycles())[1]?.id)
  })

  it('that is paused does not fire by itself, and when it is resumed waits for its next time', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE })
    await stage.watches.updateWatch('services', { paused: true })
    await stage.pass(HOUR)
    expect(await stage.cycles()).toEqual([])
    await stage.watches.updateWatch('services', { paused: false })
    await stage.pass(10 * MINUTE - 1)
    expect(await stage.cycles()).toEqual([])
    await stage.pass(1)
    expect(await stage.cycles()).toMatchObject([{ state: 'open', trigger: 'schedule' }])
  })

  it('loses a setting, or its schedule, when it is set to null', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, maxBudgetUsd: 2, maxTier: 2 })
    const before = await stage.watches.updateWatch('services', { maxBudgetUsd: null })
    expect([before.maxBudgetUsd, before.maxTier, before.everyMs]).toEqual([undefined, 2, 10 * MINUTE])
    const after = await stage.watches.updateWatch('services', { everyMs: null })
    expect([after.schedule, after.nextAt]).toEqual([null, null])
    await stage.pass(HOUR)
    expect(await stage.cycles()).toEqual([])
  })

  it('that fires while it is changed does not fire again because of that', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, overlap: 'queue' })
    const { store } = stage.parts
    await stage.close()
    stage.open({
      ...stage.parts,
      store: {
        ...store,
        updateWatch: async (...given) => {
          await stage.pass(10 * MINUTE)
          return store.updateWatch(...given)
        },
      },
    })
    await stage.watches.updateWatch('services', { prompt: 'look closer' })
    await stage.quiet()
    expect(await stage.states()).toEqual(['open'])
    expect((await stage.store.findWatch('services'))?.definition.prompt).toBe('look closer')
  })

  it('by cron fires when the clocks skip its time, and a day later at it', async () => {
    // In Berlin 02:00 became 03:00 at 01:00 UTC.
    const stage = await Stage.set({ now: new Date('2026-03-28T12:00:00Z') })
    await stage.watch({ cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
    await stage.pass(13 * HOUR - 1)
    expect(await stage.cycles()).toEqual([])
    await stage.pass(1)
    expect(await stage.cycles()).toMatchObject([{ state: 'open', dueAt: new Date('2026-03-29T01:00:00Z') }])
    await stage.settle(await stage.openRun())
    await stage.pass(DAY - 30 * MINUTE - 1)
    expect(await stage.cycles()).toHaveLength(1)
    await stage.pass(1)
    expect((await stage.cycles())[1]).toMatchObject({ dueAt: new Date('2026-03-30T00:30:00Z') })
  })

  it('that cannot be fired, or whose cycle or follow-up cannot be handled, delays no other', async () => {
    const stage = await Stage.set()
    const { store } = stage.parts
    const sick = await stage.watch({ name: 'a-sick-one', everyMs: 10 * MINUTE })
    await stage.watch({ everyMs: 10 * MINUTE })
    const failed: string[] = []
    const fail = (what: string) => {
      failed.push(what)
      throw new Error('it is broken')
    }
    await stage.close()
    const log = { ...stage.parts.log, error: () => {} }
    const broken: typeof store = {
      ...store,
      fireWatch: async (watch, ...rest) =>
        watch.id === sick ? fail('fire') : store.fireWatch(watch, ...rest),
    }
    stage.open({ ...stage.parts, log, store: broken })
    await stage.pass(10 * MINUTE)
    expect(failed).toEqual(['fire'])
    expect(await stage.states()).toEqual(['open'])

    await stage.close()
    stage.open({
      ...stage.parts,
      log,
      store: { ...store, getWatch: async (id) => (id === sick ? fail('read') : store.getWatch(id)) },
    })
    await stage.watches.triggerWatch('a-sick-one', {})
    await stage.pass(0)
    expect(failed).toContain('read')
    await stage.settle(await stage.openRun())
    expect(await stage.states()).toEqual(['completed'])

    await stage.restart()
    expect(await stage.states('a-sick-one')).toEqual(['open', 'skipped'])
  })

  it('whose directory is missing fails its cycle, says why, and continues when it is back', async () => {
    const stage = await Stage.set()
    await stage.watch({ everyMs: 10 * MINUTE, workDir: stage.dir })
    const watch = (await stage.store.findWatch('services'))!
    const gone = { ...watch.definition, workDir: join(stage.dir, 'gone') }
    await stage.store.updateWatch(watch.id, { definition: gone }, stage.now)
    await stage.pass(10 * MINUTE)
    expect(await stage.cycles()).toMatchObject([{ state: 'ended', outcome: 'failed', rootRunId: null }])
    expect((await stage.cycles())[0]?.message).toContain('gone')
    await stage.store.updateWatch(watch.id, { definition: watch.definition }, stage.now)
    await stage.pass(10 * MINUTE)
    expect(await stage.states()).toEqual(['failed', 'open'])
  })
})

describe('a cycle', () => {
  it('that was triggered begins at once, and the next when it has ended, in order', async () => {
    const stage = await Stage.set()
    await stage.watch()
    for (const reason of ['first', 'second', 'third']) {
      await stage.watches.triggerWatch('services', { reason })
    }
    await stage.quiet()
    for (const [open, waiting] of [
      ['first', 2],
      ['second', 1],
      ['third', 0],
    ] as const) {
      const unfinished = await stage.store.listUnfinishedCycles()
      expect(unfinished.map(({ state }) => state)).toEqual(['open', ...Array(waiting).fill('queued')])
      expect(unfinished[0]).toMatchObject({ reason: open })
      const run = await stage.openRun()
      expect(run.prompt).toContain(JSON.stringify(open))
      await stage.settle(run)
    }
    expect(await stage.states()).toEqual(['completed', 'completed', 'completed'])
  })

  it('ends as its last run did', async () => {
    const { stage, run } = await withCycle()
    await stage.settle(run, { outcome: { name: 'api-error', message: 'overloaded' }, status: null })
    expect(await stage.cycles()).toMatchObject([
      { state: 'ended', outcome: 'failed', message: 'api-error: overloaded', status: null },
    ])
  })

  it('out of time is ended, with its pending follow-ups; the next one is normal', async () => {
    const { stage, run } = await withCycle()
    const soon = idOf(await stage.plan(run, { inMs: 50 * MINUTE }))
    await stage.pass(30 * MINUTE)
    const other = idOf(await stage.plan(run, { inMs: 29 * MINUTE }))
    await stage.pass(30 * MINUTE - 1)
    expect(await stage.states()).toEqual(['open'])
    await stage.pass(1)
    expect(await stage.run(run.id)).toMatchObject({ state: { at: 'running' }, cancelRequested: true })
    for (const id of [soon, other]) expect(await stateOf(stage, id)).toBe('missed')
    await stage.settle(run, { outcome: { name: 'cancelled', message: 'cancelled' } })
    const message = 'reached its time limit after 1h; a run was still working and 2 follow-ups were pending'
    expect(await stage.cycles()).toMatchObject([{ state: 'ended', outcome: 'timed-out', message }])
    expect(await stage.store.getFollowUp(soon)).toMatchObject({ message })
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    await stage.settle(await stage.openRun())
    expect(await stage.states()).toEqual(['timed-out', 'completed'])
    expect(await stage.runs()).toHaveLength(2)
  })

  it('that only waits for a follow-up runs out of time too', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { cron: '*/20 * * * *', recurring: true, timeZone: 'UTC' }))
    await stage.settle(run)
    await stage.close()
    stage.open()
    await stage.pass(2 * HOUR)
    expect(await stage.cycles()).toMatchObject([{ state: 'ended', outcome: 'timed-out' }])
    expect(await stateOf(stage, id)).toBe('missed')
    expect(await stage.runs()).toHaveLength(1)
  })

  it('that waits for approval does not run out of time, nor when it is given', async () => {
    const { stage, run } = await withCycle()
    await stage.pass(30 * MINUTE)
    await stage.settle(run, { asks: true, status: 'down' })
    await stage.pass(5 * HOUR)
    await stage.restart()
    expect(await stage.states()).toEqual(['open'])
    const [asked] = (await stage.approvals.list()).map(describeEscalation)
    // The person was shown something else.
    const other = stage.approvals.answer(run.id, { decision: 'approve', askHash: 'f00d' })
    await expect(other).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('shown') })
    await stage.approvals.answer(run.id, { decision: 'approve', askHash: asked!.askHash! })
    await stage.quiet()
    const next = await stage.openRun()
    expect(next.links).toMatchObject({ tier: 2, parentRunId: run.id, cycleId: run.links.cycleId })
    await stage.pass(30 * MINUTE - 1)
    expect(await stage.run(next.id)).toMatchObject({ state: { at: 'queued' } })
    await stage.settle(next, { status: 'fixed' })
    expect(await stage.cycles()).toMatchObject([{ outcome: 'completed', status: 'fixed' }])
  })

  it('that waits for approval gets its follow-ups meanwhile, however late', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { inMs: 50 * MINUTE }))
    await stage.settle(run, { asks: true, status: 'down' })
    await stage.close()
    stage.open()
    await stage.pass(5 * HOUR)
    const next = await stage.openRun()
    expect(next.links.followUpId).toBe(id)
    await stage.look()
    await stage.settle(next)
    expect(await stage.states()).toEqual(['open'])
    expect(await stage.approvals.list()).toMatchObject([{ runId: run.id }])
  })

  it('that waits for approval and is cancelled ends, and the approval is withdrawn', async () => {
    const { stage, run } = await withCycle()
    await stage.settle(run, { asks: true, status: 'down' })
    const [cycle] = await stage.cycles()
    await stage.watches.cancelCycle(cycle!.id)
    await stage.quiet()
    expect(await stage.cycles()).toMatchObject([
      { state: 'ended', outcome: 'cancelled', message: 'cancelled', status: 'down' },
    ])
    expect(await stage.approvals.list()).toEqual([])
  })

  it('that is cancelled has no successors, whatever its agent plans meanwhile', async () => {
    const { stage, run } = await withCycle()
    await stage.attemptOf(run)
    const [cycle] = await stage.cycles()
    await stage.watches.cancelCycle(cycle!.id)
    await stage.quiet()
    const refused = { ok: false, reason: expect.stringContaining('nothing can be scheduled after that') }
    expect(await stage.plan(run, { inMs: 10 * MINUTE })).toMatchObject(refused)
    // At the same moment.
    const late = newFollowUp({ runId: run.id, rootRunId: run.id, cycleId: cycle!.id })
    expect(await stage.store.addFollowUp(late, ROOM)).toBe('over')
    await stage.settle(run)
    expect(await stage.states()).toEqual(['cancelled'])
    await expect(
      stage.followUps.createFollowUp({ runId: run.id, prompt: 'and then', inMs: 10 * MINUTE }),
    ).rejects.toMatchObject({ code: 'bad-request', message: refused.reason })
  })

  it('that is requested again with the same key is the same one', async () => {
    const { stage, run } = await withCycle()
    const ask = (reason: string) => stage.watches.triggerWatch('services', { reason }, 'key-1')
    const answers = await Promise.all([ask('why'), ask('why'), ask('why')])
    expect(answers.map(({ result }) => result).sort()).toEqual(['known', 'known', 'queued'])
    expect(new Set(answers.map(({ cycleId }) => cycleId)).size).toBe(1)
    await expect(ask('another')).rejects.toMatchObject({ code: 'conflict' })
    expect(await stage.states()).toEqual(['open', 'queued'])

    await stage.attemptOf(run)
    const plan = (prompt: string) =>
      stage.followUps.createFollowUp({ prompt, runId: run.id, inMs: 10 * MINUTE }, 'key-2')
    const planned = await Promise.all([plan('still up?'), plan('still up?')])
    expect(planned[0]?.id).toBe(planned[1]?.id)
    await expect(plan('what else?')).rejects.toMatchObject({ code: 'conflict' })
    expect(await stage.store.listPlannedOfRun(run.id)).toHaveLength(1)
  })

  it('includes the payload of its trigger, within limits', async () => {
    const stage = await Stage.set()
    await stage.watch()
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
    await expect(stage.watches.triggerWatch('services', { payload: deep })).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('levels deep'),
    })
    await stage.watches.triggerWatch('services', { payload: 'x'.repeat(100_000) })
    await stage.quiet()
    const run = await stage.openRun()
    expect(run.prompt).toContain('This event had 100002 bytes')
    expect(run.prompt.length).toBeLessThan(30_000)
  })

  it('that begins at the moment in which it is cancelled is cancelled, and its run with it', async () => {
    const stage = await Stage.set()
    await stage.watch()
    const { store } = stage.parts
    const cancelling = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    await stage.close()
    stage.open({
      ...stage.parts,
      store: {
        ...store,
        startCycle: async (...given) => {
          await cancelling.promise
          const cycle = await store.startCycle(...given)
          begun.resolve()
          return cycle
        },
        endCycle: async (...given) => {
          cancelling.resolve()
          await begun.promise
          return store.endCycle(...given)
        },
      },
    })
    const { cycleId } = await stage.watches.triggerWatch('services', {})
    await stage.watches.cancelCycle(cycleId!)
    await stage.quiet()
    expect(await stage.states()).toEqual(['cancelled'])
    expect(await stage.runs()).toMatchObject([{ state: { at: 'settled', outcome: { name: 'cancelled' } } }])
  })

  it('of a watch that is removed ends, and no other begins', async () => {
    const { stage, run } = await withCycle()
    await stage.watches.triggerWatch('services', {})
    const watch = (await stage.store.findWatch('services'))!
    await stage.watches.removeWatch('services')
    await stage.restart()
    const { items } = await stage.store.listCycles({ watchId: watch.id, limit: 9 })
    expect(items).toMatchObject([
      { state: 'ended', outcome: 'cancelled', message: 'the watch was removed' },
      { state: 'ended', outcome: 'cancelled', message: 'the watch was removed' },
    ])
    expect(await stage.run(run.id)).toMatchObject({ state: { at: 'settled' } })
    expect(await stage.runs()).toHaveLength(1)
  })
})

describe('a persistent memory', () => {
  it('continues in the session of the previous cycle, and starts a new one after two failures', async () => {
    const stage = await Stage.set()
    await stage.watch({ memory: 'persistent' })
    const cycle = async (status: 'healthy' | null) => {
      await stage.watches.triggerWatch('services', {})
      await stage.quiet()
      const run = await stage.openRun()
      await stage.settle(run, { status })
      return { asked: run.sessionId, prompt: run.prompt, got: (await stage.run(run.id)).sessionId }
    }
    const first = await cycle('healthy')
    expect(first.asked).toBeNull()
    const second = await cycle('healthy')
    expect(second.asked).toBe(first.got)
    expect((await cycle(null)).asked).toBe(first.got)
    expect((await cycle(null)).asked).toBe(first.got)
    const renewed = await cycle('healthy')
    expect(renewed.asked).toBeNull()
    expect(renewed.prompt).toContain('- cycle 1, ')
    expect((await stage.cycles()).map(({ renewed: why }) => why !== null)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ])
    expect((await cycle('healthy')).asked).toBe(renewed.got)
  })

  it('is kept over any number of skipped cycles', async () => {
    const stage = await Stage.set()
    await stage.watch({ memory: 'persistent', everyMs: MINUTE })
    for (const status of ['healthy', null, null] as const) {
      await stage.pass(MINUTE)
      for (let i = 0; i < 25; i++) await stage.pass(MINUTE)
      await stage.settle(await stage.openRun(), { status })
    }
    await stage.pass(MINUTE)
    const run = await stage.openRun()
    expect(run.sessionId).toBeNull()
    expect(run.prompt).toContain('- cycle 1, ')
  })

  it('is continued by another agent when its own is no longer configured', async () => {
    const stage = await Stage.set()
    await stage.watch({ memory: 'persistent' })
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    await stage.settle(await stage.openRun())
    const [first] = await stage.runs()
    await stage.close()
    const runtime = async (agent: string) => {
      if (agent !== 'other') throw new Error(`there is no agent ${agent}`)
    }
    const agents = {
      ...stage.parts.agents,
      names: () => ['other'],
      defaultName: 'other',
      runtime,
    } as unknown as typeof stage.parts.agents
    stage.open({ ...stage.parts, agents })
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    expect(await stage.openRun()).toMatchObject({ agent: 'other', sessionId: first!.sessionId })
  })

  it('does not count cycles that could not begin against its session', async () => {
    const stage = await Stage.set()
    await stage.watch({ memory: 'persistent' })
    const trigger = async () => {
      await stage.watches.triggerWatch('services', {})
      await stage.quiet()
    }
    for (let i = 0; i < 3; i++) {
      await trigger()
      await stage.settle(await stage.openRun())
    }
    const session = (await stage.runs())[0]?.sessionId
    const watch = (await stage.store.findWatch('services'))!
    const gone = { ...watch.definition, workDir: join(stage.dir, 'gone') }
    await stage.store.updateWatch(watch.id, { definition: gone }, stage.now)
    await trigger()
    await trigger()
    await stage.store.updateWatch(watch.id, { definition: watch.definition }, stage.now)
    await trigger()
    expect((await stage.openRun()).sessionId).toBe(session)
  })
})

describe('a follow-up', () => {
  it('is given to its session when it is due, at the same tier, and its cycle waits for it', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { inMs: 10 * MINUTE }))
    await stage.settle(run)
    await stage.pass(10 * MINUTE - 1)
    expect(await stage.openRuns()).toEqual([])
    expect(await stage.states()).toEqual(['open'])
    await stage.pass(1)
    const next = await stage.openRun()
    expect(next.links).toMatchObject({
      tier: 1,
      parentRunId: run.id,
      cycleId: run.links.cycleId,
      followUpId: id,
    })
    expect(next.sessionId).toBe((await stage.run(run.id)).sessionId)
    expect(next.prompt).toMatch(/^<reprise>\nFollow-up fup_.*\n\nverify it$/s)
    await stage.settle(next, { status: 'fixed' })
    expect(await stage.cycles()).toMatchObject([{ outcome: 'completed', status: 'fixed' }])
    expect(await stage.store.getFollowUp(id)).toMatchObject({
      state: 'fired',
      firedCount: 1,
      firedRunId: next.id,
    })
  })

  it('that is due while its run is open waits, and is given once when it settles', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { inMs: MINUTE }))
    await stage.pass(5 * MINUTE)
    await stage.restart()
    expect(await stateOf(stage, id)).toBe('planned')
    await stage.settle(run)
    expect((await stage.openRun()).links.followUpId).toBe(id)
    await stage.restart()
    expect(await stage.openRuns()).toHaveLength(1)
  })

  it('of a run that is in no chain is a plain run in its session', async () => {
    const stage = await Stage.set()
    const plain = await admitted(stage.store)
    const id = idOf(await stage.plan(plain, { inMs: MINUTE }))
    await stage.settle(plain)
    await stage.pass(MINUTE)
    const next = await stage.openRun()
    expect(next.links).toMatchObject({ followUpId: id, tier: null, parentRunId: null })
    expect(next.sessionId).toBe((await stage.run(plain.id)).sessionId)
  })

  it('that cannot be given is missed, and its cycle ends at once', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { inMs: MINUTE }))
    await stage.settle(run)
    const { tiers } = stage.parts.settings.escalation
    const without = new Map([...tiers].filter(([number]) => number !== 1))
    const { settings } = stage.parts
    await stage.close()
    stage.open({
      ...stage.parts,
      settings: { ...settings, escalation: { ...settings.escalation, tiers: without } },
    })
    await stage.pass(MINUTE)
    expect(await stage.store.getFollowUp(id)).toMatchObject({
      state: 'missed',
      message: 'tier: there is no tier 1',
    })
    expect(await stage.states()).toEqual(['completed'])
  })

  it('that recurs is given at each of its times, once, until its cycle would end', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { cron: '*/15 * * * *', recurring: true, timeZone: 'UTC' }))
    await stage.settle(run)
    const given: string[] = []
    for (let i = 0; i < 3; i++) {
      await stage.pass(15 * MINUTE)
      const next = await stage.openRun()
      given.push(next.promptId)
      await stage.settle(next)
    }
    expect(new Set(given).size).toBe(3)
    expect(await stage.store.getFollowUp(id)).toMatchObject({ state: 'fired', firedCount: 3 })
    expect(await stage.states()).toEqual(['completed'])
  })

  it('that recurs and was missed meanwhile is given once, and continues with its next time', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { cron: '*/10 * * * *', recurring: true, timeZone: 'UTC' }))
    await stage.settle(run)
    await stage.pass(35 * MINUTE)
    expect(await stage.openRuns()).toHaveLength(1)
    expect(await stage.store.getFollowUp(id)).toMatchObject({ state: 'planned', dueAt: at(40 * 60) })
  })

  it('that a person cancels is not given, and its cycle ends', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { inMs: 10 * MINUTE }))
    await stage.settle(run)
    await stage.followUps.cancelFollowUp(id)
    await stage.quiet()
    expect(await stage.states()).toEqual(['completed'])
    await expect(stage.followUps.cancelFollowUp(id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('beyond the end of its cycle is refused, with the time it ends', async () => {
    const { stage, run } = await withCycle()
    expect(await stage.plan(run, { inMs: HOUR })).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`The cycle ends at ${at(3600).toISOString().replace('.000', '')}`),
    })
  })
})

describe('follow-ups that are due together', () => {
  it('share the remaining budget of their cycle', async () => {
    const stage = await Stage.set()
    await stage.watch({ maxBudgetUsd: 1.2 })
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    const first = await stage.openRun()
    for (let i = 0; i < 2; i++) await stage.plan(first, { inMs: MINUTE })
    await stage.settle(first)
    await stage.pass(MINUTE)
    const [second, third] = await stage.openRuns()
    const left = async (id: RunId) => (await readAllowance(stage, await stage.run(id)))?.budget.usd
    expect(await left(third!.id)).toBeCloseTo(0.7)
    await stage.settle(second!)
    expect(await left(third!.id)).toBeCloseTo(0.2)
  })
})

describe('as many follow-ups as may be planned (ten thousand, if all is tested)', () => {
  it('are accepted, and no more; and all are given once when they are due', async () => {
    const [sessions, each] = [process.env.REPRISE_TEST_ALL ? 100 : 10, 100]
    const all = sessions * each
    const stage = await Stage.set({ followUps: { maxPending: each, maxPendingTotal: all } })
    const runs = await Promise.all(Array.from({ length: sessions + 1 }, () => admitted(stage.store)))
    for (const run of runs.slice(1)) {
      await stage.attemptOf(run)
      await Promise.all(Array.from({ length: each }, () => stage.plan(run, { inMs: MINUTE })))
    }
    expect(await stage.plan(runs[0]!, { inMs: MINUTE })).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`${all} are already planned`),
    })
    for (const run of runs) await stage.settle(run)
    await stage.pass(MINUTE)
    const { items } = await stage.store.listFollowUps({ limit: all + 1, state: 'fired' })
    expect(items).toHaveLength(all)
    expect(new Set(items.map(({ firedRunId }) => firedRunId)).size).toBe(all)
    expect(await stage.store.countRuns()).toMatchObject({ queued: all, settled: runs.length })
  }, 120_000)
})

describe('a clock that is set', () => {
  it.each([
    ['forward', DAY],
    ['back', -DAY],
  ])('a day %s moves intervals, follow-ups "in a while" and deadlines with it', async (_, byMs) => {
    const stage = await Stage.set()
    await stage.watch({ name: 'interval', everyMs: 30 * MINUTE })
    await stage.watch({ maxDurationMs: HOUR })
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    const run = await stage.openRun()
    const id = idOf(await stage.plan(run, { inMs: 20 * MINUTE }))
    await stage.settle(run)
    await stage.pass(10 * MINUTE)
    await stage.setClock(byMs)
    expect(await stage.openRuns()).toEqual([])
    expect(await stage.states()).toEqual(['open'])
    expect(await stage.cycles('interval')).toEqual([])
    await stage.pass(10 * MINUTE - 1)
    expect(await stateOf(stage, id)).toBe('planned')
    await stage.pass(1)
    const next = await stage.openRun()
    expect(next.links.followUpId).toBe(id)
    await stage.pass(10 * MINUTE - 1)
    expect(await stage.cycles('interval')).toEqual([])
    await stage.pass(1)
    expect(await stage.cycles('interval')).toMatchObject([{ trigger: 'schedule', state: 'open' }])
    await stage.pass(30 * MINUTE)
    expect(await stage.run(next.id)).toMatchObject({ state: { at: 'settled' } })
    expect(await stage.states()).toEqual(['timed-out'])
  })

  it('forward over a time of the day makes it due, once', async () => {
    const stage = await Stage.set()
    await stage.watch({ cron: '0 13 * * *', timeZone: 'UTC' })
    await stage.setClock(3 * DAY)
    expect(await stage.cycles()).toMatchObject([{ trigger: 'catch-up', state: 'open' }])
    await stage.settle(await stage.openRun())
    await stage.pass(HOUR)
    expect(await stage.cycles()).toHaveLength(2)
  })

  it('back leaves it at its time of the day', async () => {
    const stage = await Stage.set()
    await stage.watch({ cron: '0 13 * * *', timeZone: 'UTC' })
    await stage.setClock(-DAY)
    expect(await stage.watches.getWatch('services')).toMatchObject({ nextAt: '2026-02-28T13:00:00.000Z' })
    await stage.pass(HOUR - 1)
    expect(await stage.cycles()).toEqual([])
    await stage.pass(1)
    expect(await stage.cycles()).toMatchObject([{ trigger: 'schedule' }])
  })

  it('back keeps a follow-up by cron at its time of the day, and extends its end', async () => {
    const { stage, run } = await withCycle()
    const wish = { cron: '*/10 * * * *', recurring: true, timeZone: 'UTC' }
    const id = idOf(await stage.plan(run, wish))
    const expiresAt = async () => (await stage.store.getFollowUp(id))!.expiresAt!.getTime()
    const before = await expiresAt()
    await stage.settle(run)
    await stage.setClock(-DAY)
    expect(await expiresAt()).toBe(before - DAY)
    await stage.pass(10 * MINUTE - 1)
    expect(await stage.openRuns()).toEqual([])
    await stage.pass(1)
    expect((await stage.openRun()).links.followUpId).toBe(id)
  })

  it('does not move a follow-up that was requested for a time', async () => {
    const { stage, run } = await withCycle()
    const id = idOf(await stage.plan(run, { at: at(20 * 60) }))
    await stage.settle(run)
    await stage.setClock(20 * MINUTE)
    expect((await stage.openRun()).links.followUpId).toBe(id)
  })
})

describe('events', () => {
  const alert = (name: string, status: 'firing' | 'resolved' = 'firing') => ({
    version: '4',
    alerts: [{ status, labels: { alertname: name }, fingerprint: name }],
  })

  it('that are equal begin one cycle, a hundred at once', async () => {
    const stage = await Stage.set()
    await stage.watch()
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => stage.watches.receiveEvents('services', alert('down'))),
    )
    await stage.quiet()
    const results = answers.map(({ result }) => result)
    expect(results.toSorted()).toEqual([...Array(99).fill('known'), 'started'])
    expect(new Set(answers.map(({ cycleId }) => cycleId)).size).toBe(1)
    expect(await stage.states()).toEqual(['open'])
    expect((await stage.openRun()).prompt).toContain('"fingerprint": "down"')
  })

  it('that come while a cycle is open are all given to the next one', async () => {
    const stage = await Stage.set()
    await stage.watch()
    const send = async (name: string) => (await stage.watches.receiveEvents('services', alert(name))).result
    expect(await send('a')).toBe('started')
    await stage.quiet()
    const first = await stage.openRun()
    expect([await send('b'), await send('c'), await send('b')]).toEqual(['queued', 'merged', 'known'])
    await stage.settle(first)
    const { prompt } = await stage.openRun()
    expect(['a', 'b', 'c'].map((name) => prompt.includes(`"fingerprint": "${name}"`))).toEqual([
      false,
      true,
      true,
    ])
  })

  it('that come at the moment in which a cycle begins are given to it, or to another', async () => {
    const stage = await Stage.set()
    await stage.watch({ eventsPerHour: 100 })
    const names = Array.from({ length: 20 }, (_, i) => `event-${i}`)
    for (const name of names) {
      // The waiting cycle begins whenever the timetable gets to it.
      await stage.watches.receiveEvents('services', alert(name))
    }
    await stage.quiet()
    for (let open = await stage.openRuns(); open.length > 0; open = await stage.openRuns()) {
      await stage.settle(open[0]!)
    }
    const prompts = (await stage.runs()).map(({ prompt }) => prompt).join('\n')
    for (const name of names) expect(prompts.split(`"title": "${name}"`), name).toHaveLength(2)
  })

  it('that are resolved and come again begin another cycle', async () => {
    const stage = await Stage.set()
    await stage.watch()
    const send = async (status?: 'resolved') =>
      (await stage.watches.receiveEvents('services', alert('down', status))).result
    await send()
    await stage.quiet()
    await stage.settle(await stage.openRun())
    expect(await send()).toBe('known')
    expect(await send('resolved')).toBe('resolved')
    expect(await send()).toBe('started')
  })
})
