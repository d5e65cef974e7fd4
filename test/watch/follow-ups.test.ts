/** What an agent plans with its own tools is kept by Reprise and given to its session once, on the real CLI. */
import { afterEach, describe, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { bash, FIXED, Incident, report, results } from '../support/incident.ts'
import { until } from '../support/world.ts'

let incident: Incident
afterEach(() => incident.close())

const wakeUp = (delaySeconds: number, prompt = 'verify that web answers') => ({
  tool: 'ScheduleWakeup',
  input: { delaySeconds, reason: 'let it start', prompt },
})
const calm = { status: 'degraded', escalate: false, reason: 'restarted; to be verified' } as const

const plans = (...calls: object[]): RuleInput => ({
  when: { user: 'restart web' },
  reply: [
    bash('docker restart web'),
    results,
    ...calls.flatMap((call) => [call as never, results]),
    report(calm),
    results,
    { text: 'planned' },
  ],
})
const verifies: RuleInput = {
  when: { user: 'verify that web answers' },
  reply: [bash('docker ps'), results, report(FIXED), results, { text: 'verified' }],
}

const NO_HOLD = { followUps: { hold: '0ms' } }
const begin = () => incident.investigate({ prompt: 'restart web', tier: 2 })
const verifications = () => incident.prompts().filter(({ text }) => text.includes('verify that web answers'))

describe('a follow-up', () => {
  it('is given to the session by a run of its own, at the same tier, when its run has ended', async () => {
    incident = await Incident.begin([plans(wakeUp(3)), verifies], NO_HOLD)
    const { id } = await begin()
    const chain = await until(async () => {
      const found = await incident.chain(id)
      return found.state === 'ended' ? found : null
    }, 'the chain to end')
    expect(chain.runs.map((run) => [run.tier, run.outcome, run.resumed, run.escalation?.reason])).toEqual([
      [2, 'completed', false, 'not-recommended'],
      [2, 'completed', true, 'not-recommended'],
    ])
    expect(new Set(chain.runs.map((run) => run.sessionId)).size).toBe(1)
    expect(incident.docker).toEqual(['restart web', 'ps'])
    expect(verifications()).toHaveLength(1)
    const run = await incident.world.api<RunDetail>('GET', `/api/runs/${id}`)
    expect(run.followUps).toMatchObject([
      { state: 'fired', createdBy: 'agent', firedCount: 1, firedRunId: chain.runs[1]?.id },
    ])
  })

  it('that is due soon is waited for in the process', async () => {
    incident = await Incident.begin([plans(wakeUp(3)), verifies])
    const { id } = await begin()
    const chain = await incident.rested(id)
    expect(chain.runs.map((run) => [run.tier, run.outcome, run.attemptCount])).toEqual([[2, 'completed', 1]])
    expect(chain.state).toBe('ended')
    expect(incident.docker).toEqual(['restart web', 'ps'])
    expect(verifications()).toHaveLength(1)
    const run = await incident.world.api<RunDetail>('GET', `/api/runs/${id}`)
    expect(run.followUps).toMatchObject([{ state: 'fired', firedCount: 1, firedRunId: id }])
    expect(run.escalation?.recommendation.signal?.status).toBe('fixed')
    expect(incident.world.processes()).toEqual([])
  })
})
