import { describe, expect, it } from 'vitest'
import { CycleId, NotificationId, RunId, WatchId } from '../../../src/contract/ids.ts'
import { type CycleNotice, NotificationBody } from '../../../src/contract/notification.ts'
import { noticeOfCycle } from '../../../src/core/notify/cycle.ts'
import { composeBody, composeVariables } from '../../../src/core/notify/message.ts'
import { type Notice, planNotifications } from '../../../src/core/notify/plan.ts'
import type { NotifyTarget } from '../../../src/core/notify/target.ts'

const T0 = new Date('2026-03-01T12:00:00Z')

const cycle = (change: Partial<CycleNotice> = {}): CycleNotice => ({
  id: CycleId.create(T0),
  watchId: WatchId.create(T0),
  watch: 'web-servers',
  number: 12,
  state: 'ended',
  outcome: 'completed',
  status: 'healthy',
  summary: 'All is well.',
  message: 'tier 1 does not recommend escalation',
  trigger: 'event',
  tier: 1,
  costUsd: 0.02,
  rootRunId: RunId.create(T0),
  pendingFollowUps: 0,
  startedAt: T0.toISOString(),
  endedAt: T0.toISOString(),
  reason: 'not-recommended',
  approval: null,
  ...change,
})

describe('the notice about a cycle', () => {
  const eventOf = (change: Partial<CycleNotice>) => noticeOfCycle(cycle(change))?.event ?? null

  it('that ended: what came of it, once', () => {
    const given = cycle()
    expect(noticeOfCycle(given)).toEqual({
      event: 'done',
      subject: { kind: 'cycle', id: given.id },
      occurrence: 'ended',
      payload: given,
    })
  })

  it.each([
    ['completed', 'healthy', 'not-recommended', 'done'],
    ['completed', 'fixed', 'not-recommended', 'done'],
    ['completed', 'healthy', null, 'done'],
    ['completed', 'degraded', 'not-recommended', 'attention'],
    ['completed', 'down', 'max-tier', 'attention'],
    ['completed', 'unknown', null, 'attention'],
    ['completed', null, 'no-recommendation', 'attention'],
    ['completed', 'fixed', 'max-tier', 'attention'],
    ['completed', 'healthy', 'approval-timeout', 'attention'],
    ['completed', 'down', 'refused', 'done'],
    ['failed', 'healthy', 'failed', 'failed'],
    ['failed', null, null, 'failed'],
    ['timed-out', 'down', 'recommended', 'failed'],
    ['cancelled', 'down', 'cancelled', null],
  ] as const)('%s with the status %s, stopped for %s: %s', (outcome, status, reason, event) => {
    expect(eventOf({ outcome, status, reason })).toBe(event)
  })

  it('that is not well, but has a follow-up: done, not attention', () => {
    const given = noticeOfCycle(cycle({ status: 'degraded', pendingFollowUps: 1 })) as Notice
    const targets: NotifyTarget[] = [
      { name: 'mail', on: ['done'], how: { kind: 'command', command: 'mail' } },
    ]
    expect(given.event).toBe('done')
    expect(planNotifications(given, targets, null, { notifyFrom: 'problem' })).toHaveLength(1)
    expect(planNotifications(given, targets, null, { notifyFrom: 'attention' })).toEqual([])
  })

  it('that waits for approval: attention, once for each run that asks', () => {
    const asks = (at: Date) => {
      const approval = { runId: RunId.create(at), toTier: 3, expiresAt: T0.toISOString() }
      const given = cycle({ state: 'waiting', outcome: null, status: 'down', endedAt: null, approval })
      return { approval, notice: noticeOfCycle({ ...given, reason: 'approval-needed' }) }
    }
    const [first, second] = [asks(T0), asks(T0)]
    expect(first.notice).toMatchObject({
      event: 'attention',
      occurrence: `${first.approval.runId} approval-needed`,
      payload: { approval: first.approval },
    })
    expect(second.notice?.occurrence).not.toBe(first.notice?.occurrence)
    const ended = noticeOfCycle(cycle({ approval: first.approval, reason: 'approval-timeout' }))
    expect(ended).toMatchObject({ event: 'attention', occurrence: 'ended' })
  })

  it.each(['queued', 'running', 'waiting', 'skipped'] as const)('that is %s: nothing', (state) => {
    expect(eventOf({ state, outcome: null, status: 'down' })).toBeNull()
  })
})

describe('what is sent of a cycle', () => {
  const ofCycle = (change: Partial<CycleNotice>) => ({
    ...(noticeOfCycle(cycle(change)) as Notice),
    id: NotificationId.create(T0),
    createdAt: T0,
  })

  it('fits the contract', () => {
    for (const approval of [null, { runId: RunId.create(T0), toTier: 2, expiresAt: null }]) {
      const given = ofCycle({ approval })
      expect(NotificationBody.parse(JSON.parse(composeBody(given)))).toEqual({
        id: given.id,
        event: 'done',
        at: T0.toISOString(),
        cycle: given.payload,
      })
    }
  })

  it('tells a command also which watch it is and how things are', () => {
    const given = ofCycle({ status: 'down', summary: `\0${'x'.repeat(1e5)}` })
    expect(composeVariables(given)).toEqual({
      REPRISE_EVENT: 'attention',
      REPRISE_DELIVERY: given.id,
      REPRISE_CYCLE_ID: given.subject.id,
      REPRISE_CYCLE_STATE: 'ended',
      REPRISE_MESSAGE: 'tier 1 does not recommend escalation',
      REPRISE_WATCH: 'web-servers',
      REPRISE_CYCLE_OUTCOME: 'completed',
      REPRISE_CYCLE_STATUS: 'down',
      REPRISE_CYCLE_SUMMARY: expect.stringMatching(/^\\u\{0\}x+…$/),
    })
    const empty = ofCycle({ status: null, summary: null, message: null, outcome: 'failed' })
    expect(composeVariables(empty)).toMatchObject({
      REPRISE_MESSAGE: '',
      REPRISE_CYCLE_STATUS: '',
      REPRISE_CYCLE_SUMMARY: '',
    })
  })

  it('has its fields and no others, and cuts what is long', () => {
    const long = '😀'.repeat(100_000)
    const { payload } = ofCycle({
      summary: long,
      message: long,
      ...({ hookSecret: 's3cret', prompt: long } as Partial<CycleNotice>),
    })
    expect(Object.keys(payload).sort()).toEqual(Object.keys(cycle()).sort())
    // Two texts of 8,000 characters at the most, and some hundred characters of everything else.
    expect(JSON.stringify(payload).length).toBeLessThan(17_000)
    expect(payload.message?.isWellFormed()).toBe(true)
  })
})
