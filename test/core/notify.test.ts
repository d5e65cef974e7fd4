import { describe, expect, it } from 'vitest'
import { JobId, NotificationId, RunId } from '../../src/contract/ids.ts'
import { type JobNotice, NotificationBody } from '../../src/contract/notification.ts'
import { describeJobNotice, noticeOfJob } from '../../src/core/notify/job.ts'
import { composeBody, composeVariables } from '../../src/core/notify/message.ts'
import { type Notice, planNotifications } from '../../src/core/notify/plan.ts'
import { decideAfterTry, MAX_TRIES } from '../../src/core/notify/retry.ts'
import { type NotifyTarget, resolveTarget, showTarget } from '../../src/core/notify/target.ts'

const T0 = new Date('2026-03-01T12:00:00Z')

const job = (change: Partial<JobNotice> = {}): JobNotice => ({
  id: JobId.create(T0),
  state: 'completed',
  attention: null,
  message: 'completed',
  outcome: 'completed',
  resultText: 'Done.',
  prompt: 'Do it.',
  agent: 'claude',
  model: null,
  workDir: '/srv/project',
  runId: RunId.create(T0),
  sessionId: null,
  attemptCount: 1,
  costUsd: 0.5,
  createdAt: T0.toISOString(),
  startedAt: null,
  endedAt: null,
  ...change,
})

const notice = (change: Partial<Notice> = {}): Notice => ({
  event: 'done',
  subject: { kind: 'job', id: JobId.create(T0) },
  occurrence: 'run_1',
  payload: job(),
  ...change,
})

const HOOK = 'https://chat.example/hook'
const TARGETS: NotifyTarget[] = [
  {
    name: 'chat',
    on: ['done', 'failed'],
    how: { kind: 'webhook', url: HOOK, headers: { a: 'b' }, secret: 's3cret' },
  },
  { name: 'phone', on: ['attention'], how: { kind: 'command', command: 'ring' } },
]

describe('who is notified', () => {
  it.each([
    ['done', null, [{ name: 'chat' }]],
    ['failed', null, [{ name: 'chat' }]],
    ['attention', null, [{ name: 'phone' }]],
    ['attention', 'https://own', [{ name: 'phone' }, { webhook: 'https://own' }]],
    ['attention', HOOK, [{ name: 'phone' }, { webhook: HOOK }]],
    ['done', HOOK, [{ name: 'chat' }]],
  ] as const)('of %s, with the webhook %s', (event, webhook, targets) => {
    const given = notice({ event })
    expect(planNotifications(given, TARGETS, webhook)).toEqual(
      targets.map((target) => ({ ...given, target })),
    )
  })

  it.each([
    ['all', 'done', 'healthy', true],
    ['all', 'attention', 'down', true],
    ['problem', 'done', 'healthy', false],
    ['problem', 'done', 'fixed', false],
    ['problem', 'done', 'degraded', true],
    ['problem', 'done', null, true],
    ['problem', 'failed', 'healthy', true],
    ['problem', 'attention', 'fixed', true],
    ['attention', 'done', 'healthy', false],
    ['attention', 'done', 'degraded', false],
    ['attention', 'failed', null, true],
    ['attention', 'attention', 'unknown', true],
  ] as const)('from %s on, of %s with the status %s: %s', (from, event, status, told) => {
    const given = notice({ event, payload: { state: 'ended', message: null, status } })
    const targets = planNotifications(given, TARGETS, 'https://own', { notifyFrom: from }).map(
      ({ target }) => target,
    )
    const name = event === 'attention' ? 'phone' : 'chat'
    expect(targets).toEqual(told ? [{ name }, { webhook: 'https://own' }] : [])
  })

  const well = { outcome: 'completed', status: 'healthy' } as const
  const slow = { outcome: 'completed', status: 'degraded' } as const
  const fixed = { outcome: 'completed', status: 'fixed' } as const
  const failed = { outcome: 'failed', status: null } as const
  it.each([
    ['what was well and is', well, well, false],
    ['what is well when it is first looked at', null, well, false],
    ['what was repaired and is well', fixed, well, false],
    ['what goes wrong', well, slow, true],
    ['what is wrong when it is first looked at', null, slow, true],
    ['what is wrong still', slow, slow, false],
    ['what is wrong otherwise', slow, { ...slow, status: 'down' }, true],
    ['what is well again', slow, well, true],
    ['what is repaired', slow, fixed, true],
    ['what is repaired once more', fixed, fixed, true],
    ['what can no longer be looked at', slow, failed, true],
    ['what still cannot', failed, failed, false],
    ['what can again, and is well', failed, well, true],
  ] as const)('of changes only: %s', (_, before, now, told) => {
    const given = notice({ payload: { state: 'ended', message: null, ...now } })
    const planned = planNotifications(given, [], 'https://own', { notifyFrom: 'change', before })
    expect(planned).toHaveLength(told ? 1 : 0)
  })

  it('each question to a person causes a notification', () => {
    const given = notice({ event: 'attention', payload: { state: 'waiting', message: null, ...slow } })
    expect(planNotifications(given, [], 'https://own', { notifyFrom: 'change', before: slow })).toHaveLength(
      1,
    )
  })

  it.each([
    [undefined, [{ name: 'chat' }, { name: 'mail' }]],
    [null, [{ name: 'chat' }, { name: 'mail' }]],
    [['mail', 'phone', 'gone'], [{ name: 'mail' }]],
    [[], []],
  ])('of the configured targets only %j, if they want the event, and its own webhook', (only, named) => {
    const targets: NotifyTarget[] = [
      ...TARGETS,
      { name: 'mail', on: ['done'], how: { kind: 'command', command: 'mail' } },
    ]
    const plan = (webhook: string | null) =>
      planNotifications(notice(), targets, webhook, { only }).map((p) => p.target)
    expect(plan(null)).toEqual(named)
    expect(plan('https://own')).toEqual([...named, { webhook: 'https://own' }])
  })

  it('an address once, also if the target with the same address is left out', () => {
    const told = (only: string[]) => planNotifications(notice(), TARGETS, HOOK, { only }).map((p) => p.target)
    expect(told(['chat'])).toEqual([{ name: 'chat' }])
    expect(told(['phone'])).toEqual([{ webhook: HOOK }])
  })

  it('nobody if no target is configured', () => {
    expect(planNotifications(notice(), [], null)).toEqual([])
  })

  it('neither secret nor header is part of what is stored or shown', () => {
    const [item] = planNotifications(notice(), TARGETS, null)
    expect(JSON.stringify(item)).not.toContain('s3cret')
    expect(showTarget({ name: 'chat' })).toBe('notify.chat')
    expect(showTarget({ webhook: 'https://x/s3cret' })).not.toContain('s3cret')
  })

  it('is looked up when it is sent: a name that is no longer configured has no target', () => {
    expect(resolveTarget({ name: 'phone' }, TARGETS)).toEqual({ kind: 'command', command: 'ring' })
    expect(resolveTarget({ name: 'phone' }, [])).toBeNull()
    expect(resolveTarget({ webhook: HOOK }, TARGETS)).toEqual({
      kind: 'webhook',
      url: HOOK,
      headers: {},
      secret: null,
    })
  })
})

describe('the notice about a job', () => {
  it.each([
    ['completed', 'done'],
    ['failed', 'failed'],
    ['paused', 'attention'],
  ] as const)('that is %s: %s, once for a run', (state, event) => {
    const given = job({ state })
    expect(noticeOfJob(given)).toEqual({
      event,
      subject: { kind: 'job', id: given.id },
      occurrence: given.runId,
      payload: given,
    })
  })

  it.each(['queued', 'running', 'waiting', 'cancelled'] as const)('that is %s: nothing', (state) => {
    expect(noticeOfJob(job({ state }))).toBeNull()
  })
})

describe('after a try', () => {
  const failed = { kind: 'failed', reason: 'answered 500' } as const

  it('a delivered one is done; a refused one is given up at once', () => {
    expect(decideAfterTry({ kind: 'delivered' }, 3, T0, 0)).toEqual({ kind: 'delivered' })
    expect(decideAfterTry({ kind: 'refused', reason: 'gone' }, 1, T0, 0)).toEqual({ kind: 'give-up' })
  })

  it('waits grow from seconds to hours, about a day in all, and then it is given up', () => {
    const waits = (random: number) =>
      Array.from({ length: MAX_TRIES - 1 }, (_, i) => {
        const after = decideAfterTry(failed, i + 1, T0, random)
        return after.kind === 'retry' ? after.notBefore.getTime() - T0.getTime() : 0
      })
    const hours = (random: number) => waits(random).reduce((sum, ms) => sum + ms) / 3_600_000
    expect(waits(0)[0]).toBe(10_000)
    expect(waits(0)).toEqual([...waits(0)].sort((a, b) => a - b))
    expect(hours(0)).toBeLessThan(28)
    expect(hours(0.999)).toBeGreaterThan(20)
    expect(decideAfterTry(failed, MAX_TRIES, T0, 0)).toEqual({ kind: 'give-up' })
  })

  it('two that failed together are retried at different times', () => {
    expect(decideAfterTry(failed, 5, T0, 0.1)).not.toEqual(decideAfterTry(failed, 5, T0, 0.9))
  })
})

describe('what is sent', () => {
  const sendable = (change: Partial<Notice> = {}) => ({
    ...notice(change),
    id: NotificationId.create(T0),
    createdAt: T0,
  })

  it('fits the contract, and is the same text each time', () => {
    const given = sendable()
    const body = composeBody(given)
    expect(NotificationBody.parse(JSON.parse(body))).toEqual({
      id: given.id,
      event: 'done',
      at: T0.toISOString(),
      job: given.payload,
    })
    expect(composeBody(JSON.parse(JSON.stringify(given), revive))).toBe(body)
  })

  it('gives a command the most important fields as environment variables', () => {
    const given = sendable({
      event: 'attention',
      payload: { state: 'paused', message: `$(reboot) \0${'x'.repeat(1e6 - 7)} the end` },
    })
    const variables = composeVariables(given)
    expect(variables).toEqual({
      REPRISE_EVENT: 'attention',
      REPRISE_DELIVERY: given.id,
      REPRISE_JOB_ID: given.subject.id,
      REPRISE_JOB_STATE: 'paused',
      REPRISE_MESSAGE: expect.stringMatching(
        /^\$\(reboot\) x+\n\[\d+ of \d+ characters are not shown here.*\]\nx+ the end$/,
      ),
    })
    expect(variables.REPRISE_MESSAGE?.length).toBeLessThanOrEqual(16_000)
    expect(composeVariables(sendable({ payload: { state: 'completed', message: null } }))).toMatchObject({
      REPRISE_MESSAGE: '',
    })
  })

  it('of a job, has its fields and no others, and cuts what is long', () => {
    const long = '😀'.repeat(100_000)
    const shown = describeJobNotice({
      ...job({ prompt: long, resultText: long, message: long }),
      webhook: 'https://x/s3cret',
    } as JobNotice)
    expect(Object.keys(shown).sort()).toEqual(Object.keys(job()).sort())
    expect(JSON.stringify(shown).length).toBeLessThan(20_000)
    expect(shown.prompt.isWellFormed()).toBe(true)
    expect(describeJobNotice(job({ id: shown.id, runId: shown.runId }))).toEqual(
      job({ id: shown.id, runId: shown.runId }),
    )
  })
})

const revive = (key: string, value: unknown) =>
  key === 'createdAt' && value === T0.toISOString() ? T0 : value
