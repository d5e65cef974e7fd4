/**
 * Limits and outages on a real store, with a clock that the test moves and simulated agents: the model answers a run
 * that may start or it does not, and the result is decided and stored as in the engine.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentRegistry } from '../../src/agents/registry.ts'
import { configSchema } from '../../src/config/schema.ts'
import { ConversationId, JobId, MessageId, RunId } from '../../src/contract/ids.ts'
import type { Outcome } from '../../src/contract/outcome.ts'
import { countInterruptions, decideNext } from '../../src/core/continue/decide.ts'
import type { Notice } from '../../src/core/notify/plan.ts'
import type { Notifications } from '../../src/engine/base/notifications.ts'
import { ProgressBus } from '../../src/engine/base/progress.ts'
import { Obstacles } from '../../src/engine/obstacles/obstacles.ts'
import { readPauseNotices } from '../../src/engine/tiers/tell.ts'
import { engineSettings } from '../../src/library/settings.ts'
import type { AttemptRecord } from '../../src/store/runs/attempt-records.ts'
import type { NewRun, RunRecord } from '../../src/store/runs/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { planned } from '../store/outbox.ts'
import { ending, newAttempt, newRun, newSession, running, startAttempt, T0 } from '../store/records.ts'
import { cycleStart, newCycle, newWatch } from '../store/watch-records.ts'

const isUnattended = ({ links }: RunRecord) => links.jobId !== null || links.tier !== null
const afterLongWait = ({ links }: RunRecord) => (links.jobId === null ? 'pause' : 'settle')

const MINUTE = 60_000
const OUTAGE: Outcome = { name: 'outage', message: 'connection refused', scope: 'account' }
const limited = (resetsAt: Date): Outcome => ({
  name: 'rate-limited',
  message: 'used up',
  apiStatus: 429,
  scope: 'account',
  resetsAt: resetsAt.toISOString(),
})

interface Played {
  at: Date
  runId: RunId
  answered: boolean
}

class Night {
  readonly store: Store
  readonly played: Played[] = []
  now = T0
  /** What the model does with a request. */
  model: (run: RunRecord) => Outcome | null = () => null
  /** Identifies the configured credentials. */
  identity = 'first'
  obstacles!: Obstacles
  readonly #parts: ConstructorParameters<typeof Obstacles>[0]

  /** `firstContact`: the address has never answered. */
  static async begin(config: object = {}, { firstContact = false } = {}): Promise<Night> {
    const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'reprise-night-'))
    const store = await openSqliteStore(join(dir, 'reprise.db'), T0, { commitWindowMs: 0 })
    onTestFinished(async () => {
      await store.close()
      rmSync(dir, { recursive: true, force: true })
    })
    if (!firstContact) await store.putFact('answered:http://model', T0.toISOString())
    const night = new Night(store, config)
    await night.restart()
    return night
  }

  private constructor(store: Store, config: object) {
    this.store = store
    const agent = (key: string) => ({
      name: key,
      env: {},
      model: 'haiku',
      adapter: {
        name: 'claude',
        account: () => ({
          baseUrl: 'http://model',
          baseUrlSetting: 'MODEL_URL',
          identity: `${key}/${this.identity}`,
        }),
      },
    })
    const log = () => {}
    this.#parts = {
      store,
      agents: { find: agent, names: () => ['claude'] } as unknown as AgentRegistry,
      clock: { now: () => this.now },
      bus: new ProgressBus(),
      random: () => 0,
      log: { info: log, warn: log, error: log },
      closing: new AbortController().signal,
      settings: engineSettings(configSchema.parse(config), new Map(), []),
    }
  }

  /** Behaves like a daemon that starts: it knows only the stored state. */
  async restart(): Promise<void> {
    this.obstacles = new Obstacles(this.#parts, () => {})
    await this.obstacles.open()
  }

  after(ms: number): Date {
    return new Date(T0.getTime() + ms)
  }

  run(change: Partial<NewRun> = {}): NewRun {
    return newRun({ id: RunId.create(this.now), createdAt: this.now, ...change })
  }

  async addJob(change: Partial<NewRun> = {}): Promise<JobId> {
    const id = JobId.create(this.now)
    const options = { checkpoints: null, workTree: null, webhook: null }
    const budget = { maxBudgetUsd: null, maxBudgetTokens: null }
    const job = {
      id,
      idempotencyKey: null,
      requestHash: id,
      options,
      priority: 0,
      ...budget,
      createdAt: this.now,
    }
    const place = { id, priority: 0, place: `/srv/${id}`, holdsPlace: false }
    await this.store.admitJob({ job, run: this.run({ job: place, ...change }) })
    return id
  }

  async addTurn(): Promise<void> {
    const conversation = await this.store.createConversation({
      id: ConversationId.create(this.now),
      title: 't',
      agent: 'claude',
      workDir: '/srv',
      instructions: null,
      historyScope: 'shared',
      createdAt: this.now,
    })
    await this.store.admitTurn({
      messageId: MessageId.create(this.now),
      conversationId: conversation.id,
      run: this.run(),
    })
  }

  /** Starts all runs that may start now; each attempt takes two seconds. Then the clock moves to the next due time. */
  async step(): Promise<boolean> {
    const begun: { run: RunRecord; attempt: AttemptRecord }[] = []
    for (const run of await this.store.listStartable(this.now, 100)) {
      const passage = await this.obstacles.pass(run, afterLongWait(run))
      if (passage.kind === 'settle') await this.store.settleQueued(run.id, passage.outcome, this.now)
      if (passage.kind === 'pause') await this.store.pauseRun(run.id, { ...passage, notices: [] }, this.now)
      if (passage.kind === 'go') begun.push({ run, attempt: await this.#start(run) })
    }
    if (begun.length > 0) this.now = new Date(this.now.getTime() + 2000)
    for (const { run, attempt } of begun) await this.#end(run, attempt)
    const next = await this.store.nextDueAt(this.now)
    if (next && next.getUTCFullYear() < 9999 && begun.length === 0) this.now = next
    return begun.length > 0 || (next !== null && next.getUTCFullYear() < 9999)
  }

  async playUntil(done: () => boolean | Promise<boolean> = () => false): Promise<void> {
    for (let steps = 0; steps < 2000; steps++) if ((await done()) || !(await this.step())) return
    throw new Error('the night does not end')
  }

  async #start(run: RunRecord): Promise<AttemptRecord> {
    const known = run.sessionId && (await this.store.getSession(run.sessionId))
    const session = known || newSession({ createdAt: this.now })
    const attempt = await startAttempt(this.store, {
      attempt: newAttempt(run, session, { startedAt: this.now, resumed: known !== null }),
      newSession: known ? null : session,
      events: () => [],
    })
    if (!attempt) throw new Error(`run ${run.id} cannot start`)
    return attempt
  }

  async #end(run: RunRecord, attempt: AttemptRecord): Promise<void> {
    const failed = this.model(run)
    this.played.push({ at: attempt.startedAt, runId: run.id, answered: failed === null })
    const outcome: Outcome = failed ?? { name: 'completed', message: 'completed' }
    if (failed === null) await this.obstacles.noteAnswer(run, this.now)
    const attempts = await this.store.listAttempts(run.id)
    const withoutProgress = {
      withoutProgress: attempts.length,
      withoutProgressSince: attempts[0]?.startedAt ?? this.now,
    }
    const wait = await this.obstacles.meet({
      run,
      attempt,
      outcome,
      afterLongWait: afterLongWait(run),
      ...withoutProgress,
    })
    const unattended = isUnattended(run)
    const interruptions = countInterruptions(outcome, {
      unattended,
      resumed: attempt.resumed,
      progressed: false,
    })
    const next = decideNext({
      outcome,
      kind: 'turn',
      resumed: attempt.resumed,
      cancelRequested: false,
      outdated: false,
      unattended,
      interruptions,
      wait,
      overflows: 0,
      attempts: attempt.number,
      maxResumes: 5,
      backoffMs: 30_000,
      jitter: 0,
    })
    const heldBy = wait?.heldBy ?? null
    await this.store.endAttempt(
      ending(attempt, {
        outcome,
        interruptions,
        next:
          next.kind === 'retry'
            ? { ...next, notBefore: new Date(this.now.getTime() + next.afterMs), heldBy }
            : next.kind === 'pause'
              ? { ...next, heldBy }
              : next,
        events: [],
        at: this.now,
      }),
    )
  }

  async runs(): Promise<RunRecord[]> {
    return (await this.store.listRuns({ limit: 200 })).items
  }

  async settled(): Promise<number> {
    return (await this.runs()).filter(({ state }) => state.at === 'settled').length
  }
}

it('an outage of two hours for twenty mixed runs: few tries, none counts, each completes in its own session', async () => {
  const night = await Night.begin()
  const end = night.after(120 * MINUTE)
  night.model = () => (night.now < end ? OUTAGE : null)
  for (let n = 0; n < 5; n++) await night.addJob()
  for (let n = 0; n < 5; n++) await night.addTurn()
  await night.step()
  expect(night.played, 'all that were at work meet it').toHaveLength(10)
  // A run that is admitted later waits with the others.
  const jobs = [await night.addJob(), await night.addJob()]
  for (let n = 0; n < 4; n++)
    await night.store.admitRun(night.run({ tier: { number: 1, parentRunId: null } }))
  for (let n = 0; n < 3; n++) await night.store.admitRun(night.run())
  const watch = newWatch()
  await night.store.addWatch(watch)
  const cycle = await night.store.addCycle(newCycle(watch))
  await night.store.startCycle(cycleStart(cycle, { id: RunId.create(night.now) }), night.now)

  await night.step()
  expect(await night.store.getJob(jobs[0]!)).toMatchObject({ state: 'waiting' })
  const { obstacles } = await night.obstacles.describe()
  expect(obstacles).toMatchObject([
    { kind: 'outage', agents: ['claude'], baseUrl: 'http://model', model: null, waitingCount: 20 },
  ])
  expect(obstacles[0]?.waiting).toHaveLength(20)
  for (const { state } of await night.runs()) {
    expect(state).toMatchObject({ at: 'queued', why: expect.stringContaining('connection refused') })
  }

  await night.playUntil(() => night.now > night.after(60 * MINUTE))
  const [open] = (await night.obstacles.describe()).obstacles
  for (const { state } of await night.runs()) {
    expect(state).toHaveProperty('why', expect.stringContaining(`next try at ${open?.nextTryAt}`))
  }
  await night.restart()
  await night.playUntil(() => night.now >= end)
  // 30 s, 1, 2, 4, 8 minutes, then every quarter of an hour.
  const tries = night.played.slice(10)
  expect(tries.length).toBeLessThanOrEqual(13)
  expect(await night.settled()).toBe(0)

  const triesBefore = night.played.length
  await night.playUntil()
  expect(night.played.slice(triesBefore).filter(({ answered }) => !answered)).toEqual([])
  const runs = await night.runs()
  expect(runs).toHaveLength(20)
  for (const run of runs) {
    expect(run).toMatchObject({ interruptions: 0, state: { at: 'settled', outcome: { name: 'completed' } } })
    const sessions = (await night.store.listAttempts(run.id)).map(({ sessionId }) => sessionId)
    expect(new Set(sessions).size).toBe(1)
    expect(night.played.filter(({ runId, answered }) => runId === run.id && answered)).toHaveLength(1)
  }
  const starts = night.played.filter(({ answered }) => answered).map(({ at }) => at.getTime())
  expect(new Set(starts).size, 'one tries, then the rest go, spread out').toBeGreaterThan(2)
  expect(starts.filter((at) => at === Math.min(...starts))).toHaveLength(1)
  expect((await night.obstacles.describe()).obstacles).toEqual([])
  // The outage does not count against its time: it has the same hour as at first, except for the time of the tries.
  const { deadlineAt } = (await night.store.getCycle(cycle.id))!
  expect(deadlineAt!.getTime()).toBeGreaterThan(end.getTime() + 50 * MINUTE)
  expect(deadlineAt!.getTime()).toBeLessThan(end.getTime() + 80 * MINUTE)
})

it('a limit holds those that share the account, not others; it is tried once, when it resets', async () => {
  const night = await Night.begin()
  const resetsAt = night.after(180 * MINUTE)
  night.model = ({ agent }) => (agent === 'claude' && night.now < resetsAt ? limited(resetsAt) : null)
  await night.addJob()
  await night.step()
  for (let n = 0; n < 19; n++) await night.addJob()
  await night.addJob({ agent: 'other' })
  await night.playUntil(async () => (await night.settled()) > 0)
  expect(night.played.map(({ answered }) => answered)).toEqual([false, true])
  expect(night.now < resetsAt).toBe(true)
  const { obstacles } = await night.obstacles.describe()
  expect(obstacles).toMatchObject([{ kind: 'limit', resetsAt: resetsAt.toISOString(), waitingCount: 20 }])
  await night.playUntil()
  expect(await night.settled()).toBe(21)
  expect(night.played.filter(({ answered }) => !answered)).toHaveLength(1)
})

it('a limit of one model holds back that model only', async () => {
  const night = await Night.begin()
  night.model = ({ model }) => (model === 'opus' ? { ...OUTAGE, scope: 'model', apiStatus: 529 } : null)
  await night.addJob({ model: 'opus' })
  await night.step()
  await night.addJob({ model: 'opus' })
  await night.addJob({ model: 'haiku' })
  await night.step()
  expect(night.played.map(({ answered }) => answered)).toEqual([false, true])
})

it('a run whose requests fail while others are answered waits alone and delays no other run', async () => {
  const night = await Night.begin()
  await night.addJob()
  const bad = await night.addJob()
  const { runId } = (await night.store.getJob(bad))!
  night.model = ({ id }) => (id === runId ? { ...OUTAGE, scope: 'model', apiStatus: 500 } : null)
  await night.step()
  expect(night.played.map(({ answered }) => answered)).toEqual([true, false])
  expect((await night.obstacles.describe()).obstacles).toEqual([])
  expect((await night.store.getRun(runId))?.state).toMatchObject({
    at: 'queued',
    notBefore: night.after(32_000),
  })
  await night.addJob()
  await night.step()
  expect(await night.settled()).toBe(2)
})

it('after the clock was set back, an outage is still known from the failure of one run', async () => {
  const night = await Night.begin()
  await night.addJob()
  await night.step()
  const jumpMs = -24 * 60 * MINUTE
  await night.store.moveTimes({ jumpMs, missedMs: 0, watches: [], clock: '{}' })
  night.now = new Date(night.now.getTime() + jumpMs)
  night.obstacles.followJump(jumpMs)
  night.model = () => ({ ...OUTAGE, scope: 'model', apiStatus: 500 })
  night.now = new Date(night.now.getTime() + MINUTE)
  await night.addJob()
  await night.step()
  expect((await night.obstacles.describe()).obstacles).toMatchObject([{ kind: 'outage', model: 'haiku' }])
})

it('a run that was to probe and got no result leaves the probe to the next run', async () => {
  const night = await Night.begin()
  night.model = () => OUTAGE
  await night.addJob()
  await night.step()
  await night.addJob()
  await night.addJob()
  const queued = (await night.runs()).toReversed()
  night.now = night.after(5 * MINUTE)
  const passed = async (run: RunRecord) => (await night.obstacles.pass(run, 'settle')).kind
  expect([await passed(queued[0]!), await passed(queued[1]!), await passed(queued[2]!)]).toEqual([
    'go',
    'wait',
    'wait',
  ])
  // The daemon dies before the first run has started; the next daemon reads the stored state.
  await night.restart()
  expect(await passed(queued[1]!)).toBe('wait')
  night.now = night.after(6 * MINUTE)
  expect([await passed(queued[1]!), await passed(queued[2]!)]).toEqual(['go', 'wait'])
  expect((await night.obstacles.describe()).obstacles[0]?.probe).toBe(queued[1]!.id)
})

it('an obstacle that closes while the end of an attempt is decided holds no run', async () => {
  const night = await Night.begin()
  const { store, obstacles } = night
  const [failed, vain, other] = [await running(store), await running(store), await running(store)]
  night.now = night.after(5000)
  const met = {
    outcome: OUTAGE,
    afterLongWait: 'pause',
    withoutProgress: 1,
    withoutProgressSince: T0,
  } as const
  const wait = await obstacles.meet({ ...failed, ...met })
  expect(wait).toMatchObject({ kind: 'retry', heldBy: expect.any(String) })
  night.now = night.after(6000)
  await obstacles.noteAnswer(other.run, night.now)
  const heldBy = wait?.heldBy ?? null
  const retry = { kind: 'retry', notBefore: night.after(180 * MINUTE), why: 'outage', heldBy } as const
  const notices = [{ ...planned(), subject: { kind: 'chain' as const, id: vain.run.id } }]
  await store.endAttempt(ending(failed.attempt, { outcome: OUTAGE, next: retry, at: night.now }))
  const pause = { kind: 'pause', why: 'outage', heldBy } as const
  await store.endAttempt(
    ending(vain.attempt, {
      outcome: OUTAGE,
      next: pause,
      effects: [store.effects.notifyOfPause(notices)],
      at: night.now,
    }),
  )
  for (const { run } of [failed, vain]) {
    const why = expect.stringContaining('answers again')
    expect((await store.getRun(run.id))?.state).toEqual({
      at: 'queued',
      notBefore: night.now,
      why,
      paused: false,
    })
  }
  expect(await store.listNotifications({ kind: 'chain', id: vain.run.id })).toEqual([])
})

it('with other credentials no run waits for the old ones, and their obstacles are deleted after a while', async () => {
  const night = await Night.begin()
  night.model = () => limited(night.after(300 * MINUTE))
  const job = await night.addJob()
  await night.store.admitRun(night.run())
  await night.step()
  await night.restart()
  expect(await night.store.getJob(job), 'a restart alone changes nothing').toMatchObject({ state: 'waiting' })
  night.identity = 'second'
  night.model = () => null
  await night.restart()
  await night.playUntil()
  expect(await night.settled()).toBe(2)
  expect(night.now < night.after(MINUTE)).toBe(true)
  expect((await night.obstacles.describe()).obstacles).toHaveLength(1)
  night.now = night.after(300 * MINUTE + 25 * 60 * MINUTE)
  await night.obstacles.sweep()
  expect((await night.obstacles.describe()).obstacles).toEqual([])
})

it('a run that has waited for too long is paused for a person, who can continue it', async () => {
  const night = await Night.begin({ outage: { limit: '1h' } })
  night.model = () => OUTAGE
  const id = await night.addJob()
  const other = (await night.store.admitRun(night.run())).run.id
  const second = (await night.store.admitRun(night.run())).run.id
  await night.playUntil()
  expect(night.now.getTime()).toBeGreaterThanOrEqual(night.after(60 * MINUTE).getTime())
  expect(night.now.getTime()).toBeLessThan(night.after(80 * MINUTE).getTime())
  expect(await night.store.getJob(id)).toMatchObject({ state: 'paused', attention: 'outage' })
  const paused = {
    at: 'queued',
    paused: true,
    notBefore: null,
    why: expect.stringMatching(/connection refused.*outage\.limit.*reprise runs continue/),
  }
  expect((await night.store.getRun(other))?.state).toEqual(paused)
  expect((await night.store.getRun(second))?.state).toEqual(paused)

  expect((await night.obstacles.describe()).paused).toEqual([second, other])

  // If the try fails, the run is paused again. When the model is back, all paused runs continue, except for the job.
  expect(await night.store.hastenRun(other, night.now)).toBe(true)
  await night.playUntil()
  expect((await night.store.getRun(other))?.state).toEqual(paused)
  // While one of them probes, another run that a person continued waits for its own try.
  await night.store.hastenRun(other, night.now)
  await night.store.hastenRun(second, night.now)
  const tries = night.played.length
  await night.step()
  await night.playUntil()
  expect(night.played.slice(tries).map(({ runId }) => runId)).toEqual([other, second])
  expect((await night.store.getRun(second))?.state).toEqual(paused)
  night.model = () => null
  await night.store.hastenRun(other, night.now)
  await night.playUntil()
  expect((await night.store.getRun(other))?.state).toMatchObject({
    at: 'settled',
    outcome: { name: 'completed' },
  })
  expect((await night.store.getRun(second))?.state).toMatchObject({ outcome: { name: 'completed' } })
  const notes = (await night.store.listEvents(second, {})).map(({ body }) => body)
  expect(notes).toContainEqual({ type: 'note', text: expect.stringContaining('no longer paused') })
  expect(await night.store.getJob(id)).toMatchObject({ state: 'paused', attention: 'outage' })
})

it('a paused run tries again about once an hour if no other run does', async () => {
  const night = await Night.begin({ outage: { limit: '1h' } })
  night.model = () => OUTAGE
  const ids: RunId[] = []
  for (let n = 0; n < 3; n++) ids.push((await night.store.admitRun(night.run())).run.id)
  await night.playUntil()
  expect((await night.obstacles.describe()).paused).toEqual(ids.toReversed())
  // A paused run is not counted as waiting too.
  expect((await night.obstacles.describe()).obstacles).toMatchObject([{ waiting: [], waitingCount: 0 }])
  const tried = async (ms: number) => {
    const before = night.played.length
    night.now = new Date(night.now.getTime() + ms)
    await night.obstacles.sweep()
    await night.playUntil()
    return night.played.slice(before).map(({ runId }) => runId)
  }

  expect(await tried(10 * MINUTE), 'the last try is not long ago').toEqual([])
  expect(await tried(50 * MINUTE), 'one tries for all').toEqual([ids[0]])
  expect((await night.obstacles.describe()).paused).toEqual(ids.toReversed())
  night.model = () => null
  expect(await tried(60 * MINUTE)).toEqual(ids)
  expect(await night.settled()).toBe(3)
  const outcomes = await Promise.all(ids.map((id) => night.store.getRun(id)))
  expect(outcomes.map((run) => run?.state)).toMatchObject(ids.map(() => ({ outcome: { name: 'completed' } })))
})

it('a paused cycle continues when the model is back, with the time that it had left', async () => {
  const night = await Night.begin({ outage: { limit: '1h' } })
  night.model = () => OUTAGE
  const watch = newWatch()
  await night.store.addWatch(watch)
  const cycle = await night.store.addCycle(newCycle(watch))
  const runId = RunId.create(night.now)
  await night.store.startCycle(cycleStart(cycle, { id: runId }), night.now)
  await night.playUntil()
  expect((await night.store.getRun(runId))?.state).toMatchObject({ at: 'queued', paused: true })
  // A day later some other run finds the model back.
  night.model = () => null
  night.now = new Date(night.now.getTime() + 24 * 60 * MINUTE)
  await night.store.admitRun(night.run())
  const { now } = night
  await night.playUntil()
  expect((await night.store.getRun(runId))?.state).toMatchObject({ outcome: { name: 'completed' } })
  const { deadlineAt } = (await night.store.getCycle(cycle.id))!
  expect(deadlineAt!.getTime()).toBeGreaterThan(now.getTime() + 50 * MINUTE)
  expect(deadlineAt!.getTime()).toBeLessThan(now.getTime() + 61 * MINUTE)
})

it('reports a probable configuration mistake for an account that never answered, and only for that', async () => {
  const night = await Night.begin({}, { firstContact: true })
  night.model = () => OUTAGE
  await night.store.admitRun(night.run())
  await night.step()
  const [run] = await night.runs()
  expect(run?.state).toHaveProperty('why', expect.stringContaining('http://model has never answered'))
  expect((await night.obstacles.describe()).obstacles[0]?.neverAnswered).toBe(true)
  expect(await night.obstacles.isShortOfPatience(run!)).toBe(true)
  night.model = () => null
  await night.playUntil()
  expect(await night.obstacles.isShortOfPatience(run!)).toBe(false)
  await night.restart()
  night.model = () => OUTAGE
  const later = (await night.store.admitRun(night.run())).run.id
  await night.step()
  expect((await night.store.getRun(later))?.state).toHaveProperty(
    'why',
    expect.stringMatching(/^outage since/),
  )
})

it('runs of an address that never answered are paused after a few tries; others wait', async () => {
  const night = await Night.begin({}, { firstContact: true })
  night.model = () => OUTAGE
  const job = await night.addJob()
  const first = (await night.store.admitRun(night.run())).run.id
  await night.step()
  const second = (await night.store.admitRun(night.run())).run.id
  await night.playUntil()
  expect(night.now.getTime()).toBeGreaterThan(night.after(MINUTE / 2).getTime())
  expect(night.now.getTime()).toBeLessThan(night.after(4 * MINUTE).getTime())
  expect(night.played.length).toBeLessThanOrEqual(6)
  expect(await night.store.getJob(job)).toMatchObject({ state: 'paused', attention: 'outage' })
  for (const id of [first, second])
    expect((await night.store.getRun(id))?.state).toMatchObject({
      paused: true,
      why: expect.stringMatching(
        /^paused: .*(tried \d times|others have tried).*http:\/\/model has never answered.*retries about once an hour.*reprise runs continue/,
      ),
    })
  // After the mistake is corrected, one run that a person continues releases the others.
  night.model = () => null
  await night.store.hastenRun(second, night.now)
  await night.playUntil()
  expect((await night.store.getRun(first))?.state).toMatchObject({ outcome: { name: 'completed' } })
  // With other credentials the address still counts as one that has answered.
  night.identity = 'another'
  await night.restart()
  night.model = () => OUTAGE
  const later = (await night.store.admitRun(night.run())).run.id
  await night.playUntil(async () => night.now > night.after(60 * MINUTE))
  expect((await night.store.getRun(later))?.state).toMatchObject({ at: 'queued', paused: false })
})

it('people are notified once of a paused run at a tier', async () => {
  const night = await Night.begin()
  const { run } = await night.store.admitRun(night.run({ tier: { number: 2, parentRunId: null } }))
  const plan = (notice: Notice) => [{ ...notice, target: { name: 'me' } }]
  const notifications = { plan } as unknown as Notifications
  const notices = await readPauseNotices({ store: night.store, notifications }, run, 'paused: away')
  expect(notices).toMatchObject([
    { event: 'attention', subject: { kind: 'chain', id: run.id }, payload: { state: 'paused', tier: 2 } },
  ])
  const behind = { account: 'a', model: null }
  await night.store.pauseRun(run.id, { behind, why: 'paused: away', notices }, night.now)
  await night.store.pauseRun(run.id, { behind, why: 'paused: away', notices }, night.now)
  expect(await night.store.listNotifications({ kind: 'chain', id: run.id })).toHaveLength(1)
})
