/** How follow-ups are given: what a kept process and a new run get with them, and that none is missed. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AgentAdapter } from '../../src/agents/adapter.ts'
import { SessionId } from '../../src/contract/ids.ts'
import { FollowUpHold } from '../../src/engine/follow-ups/hold.ts'
import { markTaken } from '../../src/engine/follow-ups/reconcile.ts'
import { attemptDir, deliver, prepare } from '../../src/process/attempt-dir.ts'
import { admitted, COMPLETED, newRun, T0 } from '../store/records.ts'
import { until } from '../support/world.ts'
import { MINUTE, Stage } from './stage.ts'

it('every prompt that a kept process was given counts as ours in its session, accepted or not', async () => {
  const stage = await Stage.set()
  const { store, parts } = stage
  const run = await admitted(store)
  // The process is kept in another session than the one in which the follow-up is planned.
  const attempt = { ...(await stage.attemptOf(run)), sessionId: SessionId.create(T0) }
  const plan = await stage.plan(run, { cron: '* * * * *', recurring: true, timeZone: 'UTC' })
  if (!plan.ok) throw new Error(plan.reason)
  const planned = (await store.getFollowUp(plan.followUp.id))!
  const dir = attemptDir(stage.dir, attempt.id)
  prepare(dir, [])
  const given: string[] = []
  const adapter = {
    prompt: (id: string) => {
      given.push(id)
      return { id, line: '{}' }
    },
  } as unknown as AgentAdapter
  const hold = new FollowUpHold(
    { ...parts, purposes: stage.purposes, processes: { deliver } },
    { run, attempt, adapter, dir, addressee: attempt },
  )
  hold.notePlanned()
  for (const taken of [true, true, false]) {
    await stage.pass(MINUTE)
    expect(await hold.look({ type: 'turn-end', outcome: COMPLETED } as never)).toBe('given')
    if (taken) await markTaken(parts, attempt, new Set(given))
  }
  expect(new Set(given).size).toBe(3)
  expect(given[0]).toBe(planned.messageId)
  expect(readdirSync(join(dir.path, 'q'))).toHaveLength(3)
  expect(await store.listOwnPrompts(attempt.sessionId)).toEqual(expect.arrayContaining(given))
})

it('a follow-up’s run may continue after maxTurns like the run that planned it', async () => {
  const stage = await Stage.set()
  const request = { ...newRun().request, maxTurns: 5, turnsInAll: 12 }
  const run = await admitted(stage.store, { request })
  await stage.plan(run, { inMs: MINUTE })
  await stage.settle(run)
  await stage.pass(MINUTE)
  expect((await stage.openRun()).request).toMatchObject({ maxTurns: 5, turnsInAll: 12 })
})

it('a follow-up that becomes due during a check is fired by the next one', async () => {
  const stage = await Stage.set()
  const { clock, store } = stage.parts
  const run = await admitted(stage.store)
  await stage.plan(run, { inMs: MINUTE })
  await stage.settle(run)
  const [now, listDue] = [clock.now.bind(clock), store.listDueFollowUps]
  let lateMs = 0
  clock.now = () => new Date(now().getTime() + lateMs)
  store.listDueFollowUps = async (...given) => {
    const due = await listDue(...given)
    lateMs = 2 * MINUTE
    return due
  }
  await stage.look()
  await until(async () => (await stage.openRuns()).length === 1, 'the follow-up to be fired')
})
