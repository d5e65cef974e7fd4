/**
 * A watch that finds an incident, on the real CLI: restart, verify later, escalate if that did not help; also when the
 * daemon dies, in a kept process or in a new one.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { CycleDetail } from '../../src/contract/cycle.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { bash, FIXED, report, results, tier } from '../support/incident.ts'
import { Watching } from '../support/watching.ts'
import { until } from '../support/world.ts'

let watching: Watching
afterEach(() => watching.close())

const VERIFY = 'verify that web answers'
const calm = { status: 'degraded', escalate: false, reason: 'restarted; to be verified' } as const

const wakeUp = (delaySeconds: number) => ({
  tool: 'ScheduleWakeup',
  input: { delaySeconds, reason: 'let it start', prompt: VERIFY },
})
/** A full minute, later than the end of this test. */
function inTenMinutes(): object {
  const at = new Date(Date.now() + 600_000)
  const cron = `${at.getMinutes()} ${at.getHours()} * * *`
  return { tool: 'CronCreate', input: { cron, prompt: VERIFY, recurring: false } }
}

const restarts = (call: object): RuleInput => ({
  when: { user: 'tier 2 of', lacks: VERIFY },
  reply: [bash('docker restart web'), results, call as never, results, report(calm), results, { text: 'ok' }],
})
const findsItDown: RuleInput = {
  when: { user: VERIFY },
  reply: [
    bash('docker inspect web'),
    results,
    report({ status: 'down', escalate: true, reason: 'the restart did not help' }),
    results,
    { text: 'still down' },
  ],
}
const rules = (call: object) => [
  findsItDown,
  restarts(call),
  tier(1, ['docker ps -a']),
  tier(3, ['docker compose up -d web'], FIXED),
]

const DONE = ['ps -a', 'restart web', 'inspect web', 'compose up -d web']

function expectHealed(cycle: CycleDetail, tiers: number[]): void {
  expect(cycle).toMatchObject({ state: 'ended', outcome: 'completed', status: 'fixed', tier: 3 })
  expect(cycle.followUps).toMatchObject([
    { state: 'fired', firedCount: 1, createdBy: 'agent', prompt: VERIFY, tier: 2 },
  ])
  const { chain } = cycle
  expect(chain?.runs.map((run) => run.tier)).toEqual(tiers)
  expect(chain?.runs.map((run) => [run.outcome, run.cycleId])).toEqual(
    tiers.map(() => ['completed', cycle.id]),
  )
  expect(new Set(chain?.runs.map((run) => run.sessionId)).size).toBe(1)
  expect(watching.incident.docker).toEqual(DONE)
  const asked = watching.incident.prompts().filter(({ text }) => text.includes(VERIFY))
  expect(asked).toHaveLength(1)
  // What the model was asked is what was counted, each call once.
  const answered = watching.world.simulator.requests().filter((r) => r.status === 200)
  const output = answered.reduce((sum, r) => sum + (r.usage?.output_tokens ?? 0), 0)
  expect(cycle.usage.outputTokens).toBe(output)
  expect(cycle.costUsd).toBeCloseTo(chain?.totals.costUsd ?? 0, 10)
}

describe('an incident', () => {
  it('is verified later, although the daemon was killed meanwhile, and escalates to the next tier', async () => {
    watching = await Watching.begin(rules(inTenMinutes()), { followUps: { hold: '0ms' } })
    await watching.add()
    const id = await watching.trigger()
    const waiting = await watching.waiting(id)
    expect(waiting.followUps).toMatchObject([{ state: 'planned', createdBy: 'agent' }])
    expect(waiting).toMatchObject({ pendingFollowUps: 1, runs: 2 })
    // No process is kept meanwhile.
    expect(watching.world.processes()).toEqual([])
    await watching.world.killDaemon()
    // It becomes due while no daemon runs.
    watching.changeStored('update follow_ups set due_at = ?')
    await watching.world.startDaemon()
    const cycle = await watching.ended(id)
    expectHealed(cycle, [1, 2, 2, 3])
    const session = await watching.world.api<{ costUsd: number }>(
      'GET',
      `/api/sessions/${cycle.chain?.runs[0]?.session}`,
    )
    expect(cycle.costUsd).toBeCloseTo(session.costUsd, 10)
  })

  it('is verified in the kept process, although the daemon was killed meanwhile', async () => {
    watching = await Watching.begin(rules(wakeUp(60)))
    await watching.add()
    const id = await watching.trigger()
    const held = await until(async () => {
      const { chain } = await watching.cycle(id)
      const run = chain?.runs.find((one) => one.tier === 2)
      if (!run) return null
      const events = await watching.world.events(run.id)
      return events.some((e) => e.type === 'note' && e.text.includes('the process is kept for follow-up'))
        ? run
        : null
    }, 'the agent to be kept waiting')
    const agents = () => watching.world.agents().map(({ pid }) => pid)
    const before = agents()
    expect(before).not.toEqual([])
    await watching.world.killDaemon()
    await watching.world.startDaemon()
    expect(agents()).toEqual(before)
    await watching.world.killDaemon()
    watching.changeStored('update follow_ups set due_at = ?')
    await watching.world.startDaemon()
    const cycle = await watching.ended(id)
    expectHealed(cycle, [1, 2, 3])
    expect(cycle.followUps[0]?.firedRunId).toBe(held.id)
    expect(cycle.chain?.runs[1]).toMatchObject({ attemptCount: 1 })
  })

  it('whose kept process is killed is verified once, in a new one', async () => {
    watching = await Watching.begin(rules(wakeUp(60)))
    await watching.add()
    const id = await watching.trigger()
    await until(async () => {
      const { chain, followUps } = await watching.cycle(id)
      const run = chain?.runs.find((one) => one.tier === 2)
      if (!run || followUps.length === 0) return false
      const events = await watching.world.events(run.id)
      return events.some((e) => e.type === 'note' && e.text.includes('the process is kept for follow-up'))
    }, 'the agent to be kept waiting')
    const agent = watching.world
      .processes()
      .find((p) => /claude.* -p /.test(p.command) && !/keeper/.test(p.command))
    process.kill(agent!.pid, 'SIGKILL')
    await watching.waiting(id)
    watching.changeStored('update follow_ups set due_at = ?')
    await watching.wake()
    expectHealed(await watching.ended(id), [1, 2, 2, 3])
  })
})

describe('a cycle', () => {
  it('at tier 1 can plan nothing, and none can beyond its end; the agent is told why', async () => {
    const eager: RuleInput = {
      when: { user: 'tier 1 of' },
      reply: [wakeUp(2) as never, results, report(), results, { text: 'ok' }],
    }
    const patient: RuleInput = {
      when: { user: 'tier 2 of' },
      reply: [wakeUp(3600) as never, results, report({ ...FIXED }), results, { text: 'ok' }],
    }
    watching = await Watching.begin([eager, patient])
    await watching.add()
    const cycle = await watching.ended(await watching.trigger())
    expect(cycle).toMatchObject({ outcome: 'completed', followUps: [] })
    const [first, second] = cycle.chain?.runs ?? []
    const told = async (run: string) => {
      const events = await watching.world.events(run)
      return events.flatMap((e) => (e.type === 'tool-end' ? [JSON.stringify(e.content)] : []))[0]
    }
    expect(await told(first!.id)).toMatch(/ScheduleWakeup/)
    expect(await told(second!.id)).toContain('The cycle ends at')
    expect(second?.refused).toMatchObject([{ tool: 'ScheduleWakeup', rule: 'follow-up' }])
  })
})
