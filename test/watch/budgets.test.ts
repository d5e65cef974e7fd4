/** One budget applies to everything that descends from a run or a job, and to all cycles of a watch in a day. */
import { describe, expect, it } from 'vitest'
import { JobId, type RunId } from '../../src/contract/ids.ts'
import { overBudget } from '../../src/core/job/budget.ts'
import { dayOf } from '../../src/core/schedule/day.ts'
import { createJobs } from '../../src/engine/jobs/jobs.ts'
import { LiveRuns } from '../../src/engine/supervise/live-runs.ts'
import { nextTierRun } from '../../src/engine/tiers/tier-run.ts'
import type { NewRun, RunRecord } from '../../src/store/runs/records.ts'
import { admitted, newRun, T0 } from '../store/records.ts'
import { Stage } from './stage.ts'

const readAllowance = (stage: Stage, run: RunRecord) => stage.purposes.of(run).readAllowance(run)

const [MINUTE, HOUR] = [60_000, 3_600_000]

/** The cost of each run of the stage. */
const COST = 0.5

async function jobRun(stage: Stage, maxBudgetUsd: number): Promise<RunRecord> {
  const id = JobId.create(T0)
  const run = newRun({ job: { id, priority: 0, place: '/srv/project', holdsPlace: false } })
  await stage.store.admitJob({
    job: {
      id,
      idempotencyKey: null,
      requestHash: 'h',
      options: { checkpoints: null, workTree: null, webhook: null },
      priority: 0,
      maxBudgetUsd,
      maxBudgetTokens: null,
      createdAt: T0,
    },
    run,
  })
  return stage.run(run.id)
}

const planned = async (stage: Stage, run: RunRecord) => {
  const plan = await stage.plan(run, { inMs: MINUTE })
  if (!plan.ok) throw new Error(plan.reason)
  return plan.followUp.id
}

describe.each([
  ['a job', (stage: Stage) => jobRun(stage, 1.2)],
  ['a run', (stage: Stage) => admitted(stage.store, { request: { ...newRun().request, maxBudgetUsd: 1.2 } })],
])('the budget of %s', (_, begin) => {
  it('applies to its follow-ups and theirs; when it is used up, none fires', async () => {
    const stage = await Stage.set()
    const spent = async (id: RunId) => (await readAllowance(stage, await stage.run(id)))?.before.usd
    let run = await begin(stage)
    for (const before of [0, COST, 2 * COST]) {
      expect(await spent(run.id)).toBeCloseTo(before)
      await planned(stage, run)
      await stage.settle(run)
      await stage.pass(MINUTE)
      const open = await stage.openRuns()
      if (before === 2 * COST) expect(open).toEqual([])
      else run = open[0] as RunRecord
    }
    expect(await stage.runs()).toHaveLength(3)
    const { items } = await stage.store.listFollowUps({ limit: 9, state: 'missed' })
    expect(items).toMatchObject([{ message: 'the budget of $1.20 is used up ($1.50 spent)' }])
  })
})

it('a job shows its own cost, and the spending with its follow-ups that counts against its budget', async () => {
  const stage = await Stage.set()
  const run = await jobRun(stage, 5)
  await planned(stage, run)
  await stage.settle(run)
  await stage.pass(MINUTE)
  await stage.settle(await stage.openRun())
  const notUsed = () => Promise.reject(new Error('not used'))
  const live = new LiveRuns(() => {})
  const jobs = createJobs(stage.parts, { live, cancelRun: notUsed, wake: notUsed, occupy: notUsed })
  const { items } = await jobs.listJobs({ limit: 2 })
  expect(items).toMatchObject([{ costUsd: COST, spent: { usd: 2 * COST, followUpRuns: 1 } }])
})

async function tierRun(stage: Stage): Promise<RunRecord> {
  const { tiers } = stage.parts.settings.escalation
  const first = tiers.get(1)
  if (!first) throw new Error('there is no tier 1')
  ;(tiers as Map<number, typeof first>).set(1, { ...first, budgetUsd: 0.8 })
  await stage.watch({ maxDurationMs: HOUR })
  await stage.watches.triggerWatch('services', {})
  await stage.quiet()
  return stage.openRun()
}

it('the budget of a tier applies to its follow-ups too', async () => {
  const stage = await Stage.set()
  const run = await tierRun(stage)
  await planned(stage, run)
  await stage.settle(run)
  await stage.pass(MINUTE)
  const next = await stage.openRun()
  expect((await readAllowance(stage, next))?.budget.usd).toBeCloseTo(0.3)
  await planned(stage, next)
  await stage.settle(next)
  await stage.pass(MINUTE)
  const allowance = await readAllowance(stage, await stage.openRun())
  expect(allowance && overBudget(allowance.budget, allowance.before)).toMatch(/is used up/)
})

it('the budget of a tier is not multiplied by follow-ups that are due together', async () => {
  const stage = await Stage.set()
  const left = async ({ id }: RunRecord) => (await readAllowance(stage, await stage.run(id)))?.budget.usd
  const run = await tierRun(stage)
  for (let i = 0; i < 3; i++) await planned(stage, run)
  await stage.settle(run)
  await stage.pass(MINUTE)
  const [first, second, third] = (await stage.openRuns()) as [RunRecord, RunRecord, RunRecord]
  expect(await left(first)).toBeCloseTo(0.3)
  await stage.settle(first)
  expect([await left(second), await left(third)]).toEqual([0, 0])
})

it('a chain that reaches a tier again has what is left of the budget of that tier, and of its own', async () => {
  const stage = await Stage.set()
  const root = await tierRun(stage)
  await stage.settle(root)
  const [first, second] = [nextTierRun(stage.parts, root, 2), nextTierRun(stage.parts, root, 2)]
  // Escalations admit such runs, with the whole budgets of tier and chain.
  const admit = async (run: NewRun, maxBudgetUsd: number) =>
    admitted(stage.store, { ...run, request: { ...run.request, maxBudgetUsd } })
  const left = async ({ id }: RunRecord) => (await readAllowance(stage, await stage.run(id)))?.budget.usd
  const one = await admit(first, 0.8)
  expect(await left(one)).toBeCloseTo(0.8)
  await stage.settle(one)
  expect(await left(await admit(second, 0.8))).toBeCloseTo(0.3)
})

describe('the budget of a watch for a day', () => {
  it('applies to its cycles; then the watch waits for the next day, and says so once', async () => {
    const stage = await Stage.set()
    const told: string[] = []
    stage.parts.notifications.plan = ({ event, payload }) => {
      told.push(`${event}: ${payload.message}`)
      return []
    }
    await stage.watch({ cron: '0 * * * *', timeZone: 'UTC', maxBudgetUsdPerDay: 1.2 })
    for (const left of [1.2, 0.7, 0.2]) {
      await stage.pass(HOUR)
      const run = await stage.openRun()
      expect((await readAllowance(stage, run))?.budget.usd).toBeCloseTo(left)
      await stage.settle(run)
    }
    told.length = 0
    await stage.pass(HOUR)
    expect(await stage.openRuns()).toEqual([])
    expect((await stage.cycles()).at(-1)).toMatchObject({
      outcome: 'failed',
      message:
        'its budget for today is used up ($1.50 of $1.20 spent); the watch continues at 2026-03-02T00:00:00.000Z',
    })
    // Neither by the schedule nor by hand, and no notification is repeated.
    await stage.pass(2 * HOUR)
    expect(await stage.cycles()).toHaveLength(4)
    await stage.watches.triggerWatch('services', {})
    await stage.quiet()
    expect((await stage.states()).slice(3)).toEqual(['failed', 'cancelled'])
    expect(told).toEqual([expect.stringMatching(/^failed: its budget for today is used up/)])
    await stage.pass(6 * HOUR)
    expect((await readAllowance(stage, await stage.openRun()))?.budget.usd).toBeCloseTo(1.2)
  })

  it.each([
    ['UTC', '2026-03-01T12:00:00Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T23:30:00Z', '2026-10-25T23:00:00.000Z', '2026-10-26T23:00:00.000Z'],
    ['America/New_York', '2026-11-01T03:59:00Z', '2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
    ['Asia/Kolkata', '2026-03-01T18:30:00Z', '2026-03-01T18:30:00.000Z', '2026-03-02T18:30:00.000Z'],
  ])('a day in %s at %s', (timeZone, now, from, to) => {
    const { startedAt, endsAt } = dayOf(new Date(now), timeZone)
    expect([startedAt.toISOString(), endsAt.toISOString()]).toEqual([from, to])
  })
})
