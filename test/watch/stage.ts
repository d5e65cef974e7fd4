/**
 * A timetable on a real store, with a clock that the test moves and without agents: the work of a run is written to the
 * store here as the engine would do it.
 */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import type { AgentRegistry } from '../../src/agents/registry.ts'
import { configSchema } from '../../src/config/schema.ts'
import type { Signal } from '../../src/contract/escalation.ts'
import type { RunId, WatchId } from '../../src/contract/ids.ts'
import type { Outcome } from '../../src/contract/outcome.ts'
import type { CreateWatch } from '../../src/contract/watch.ts'
import { NOTHING_TO_REDACT } from '../../src/core/redact/redactor.ts'
import type { FollowUpWish } from '../../src/core/schedule/follow-up.ts'
import { SteadyClock } from '../../src/core/steady-clock.ts'
import { ProgressBus } from '../../src/engine/base/progress.ts'
import type { Purposes } from '../../src/engine/base/purposes.ts'
import type { FollowUpSettings } from '../../src/engine/base/settings.ts'
import { DueFollowUps, type DueFollowUpsDeps } from '../../src/engine/follow-ups/due.ts'
import { createFollowUps, type FollowUpDeps } from '../../src/engine/follow-ups/follow-ups.ts'
import { createNextPrompts, type NextPromptsDeps } from '../../src/engine/follow-ups/next-prompts.ts'
import { addFollowUp, type Planned } from '../../src/engine/follow-ups/plan.ts'
import type { JobDeps } from '../../src/engine/jobs/jobs.ts'
import { createPurposes, type PurposesDeps } from '../../src/engine/purposes.ts'
import { Approvals, type ApprovalsDeps } from '../../src/engine/tiers/approvals.ts'
import { Timekeeping, type TimekeepingDeps } from '../../src/engine/timetable/timekeeping.ts'
import { Timetable } from '../../src/engine/timetable/timetable.ts'
import { DueWatches, type DueWatchesDeps } from '../../src/engine/watches/due.ts'
import { createWatches, type WatchDeps } from '../../src/engine/watches/watches.ts'
import { engineSettings } from '../../src/library/settings.ts'
import { openHost } from '../../src/process/host.ts'
import type { AttemptRecord } from '../../src/store/runs/attempt-records.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { EscalationRecord } from '../../src/store/tiers/records.ts'
import type { CycleRecord } from '../../src/store/watches/records.ts'
import { COMPLETED, ending, newAttempt, newSession, startAttempt, T0 } from '../store/records.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

type Watches = ReturnType<typeof createWatches>
type FollowUps = ReturnType<typeof createFollowUps>

export type StageParts = DueWatchesDeps &
  ApprovalsDeps &
  WatchDeps &
  FollowUpDeps &
  JobDeps &
  TimekeepingDeps &
  Omit<NextPromptsDeps, 'purposes'> &
  Omit<DueFollowUpsDeps, 'purposes'> &
  Omit<PurposesDeps, 'nextPrompts'> & { store: Store }

export interface StageOptions {
  followUps?: Partial<FollowUpSettings>
  now?: Date
}

export class Stage {
  readonly dir: string
  readonly store: Store
  readonly parts: StageParts
  readonly logged: string[] = []
  watches!: Watches
  followUps!: FollowUps
  approvals!: Approvals
  purposes!: Purposes
  #timetable!: Timetable
  #dueWatches!: DueWatches
  #dueFollowUps!: DueFollowUps
  #timekeeping!: Timekeeping
  readonly #clock: SteadyClock
  #wallMs: number
  #monotonicMs = 0
  #attempts = new Map<RunId, AttemptRecord>()
  #calls = 0
  /** Checks of the timetable that have begun, and those that are over. */
  #begun = 0
  #over = 0
  /** Calls of the store: all, and those in progress. */
  #storeCalls = 0
  #storing = 0
  #failure: Error | null = null
  #opened!: StageParts
  #cleared = false
  #onChange = () => {}

  static async set(options: StageOptions = {}): Promise<Stage> {
    // In memory: there are many small transactions, and no machine crash to survive.
    const shm = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
    const dir = realpathSync(mkdtempSync(join(shm, 'reprise-watch-')))
    const store = await openSqliteStore(join(dir, 'reprise.db'), T0, { commitWindowMs: 0 })
    const stage = new Stage(dir, store, options)
    onTestFinished(() => stage.clear())
    return stage
  }

  private constructor(dir: string, store: Store, { followUps, now = T0 }: StageOptions) {
    this.dir = dir
    this.store = store
    this.#wallMs = now.getTime()
    // However far a test moves the time at once, the daemon counts as running all the while.
    this.#clock = new SteadyClock(
      { now: () => this.now, monotonicMs: () => this.#monotonicMs },
      { maxStepMs: Number.POSITIVE_INFINITY },
    )
    const settings = engineSettings(configSchema.parse({}), new Map(), [])
    const log = (fields: object, message: string) =>
      void this.logged.push(`${message} ${JSON.stringify(fields)}`)
    const counted = this.#counting(store)
    this.parts = {
      store: {
        ...counted,
        listDueWatches: (...given: Parameters<Store['listDueWatches']>) => {
          this.#begun++
          return counted.listDueWatches(...given)
        },
        nextWatchAt: async () => {
          const at = await counted.nextWatchAt()
          this.#over++
          return at
        },
      },
      agents: {
        names: () => ['claude'],
        defaultName: 'claude',
        likelyAdapter: () => claudeAdapter,
        runtime: async () => ({}),
      } as unknown as AgentRegistry,
      clock: this.#clock,
      followClock: () => this.#timekeeping.follow(),
      bus: new ProgressBus(),
      notifications: { plan: () => [], targets: [], wake: () => {} },
      random: () => 0.5,
      log: {
        info: log,
        warn: log,
        error: (fields: object, message: string) => {
          this.#failure = new Error(`${message} ${JSON.stringify(fields)}`)
          this.#onChange()
        },
      },
      redactor: NOTHING_TO_REDACT,
      closing: new AbortController().signal,
      onAsk: () => {},
      onPlanned: () => this.#dueFollowUps.notePlanned(),
      persist: (write: () => Promise<unknown>) => write(),
      processes: openHost(dir),
      readOwnersNotices: async (run: RunRecord) => (run.links.cycleId ? [] : null),
      settings: { ...settings, followUps: { ...settings.followUps, ...followUps } },
    } as unknown as StageParts
    this.open()
  }

  /** Opens a timetable as a starting daemon does. */
  open(parts = this.parts): void {
    const of: Purposes['of'] = (run) => this.purposes.of(run)
    const nextPrompts = createNextPrompts({ ...parts, purposes: { of } })
    const purposes = createPurposes({ ...parts, nextPrompts })
    this.purposes = purposes
    const wakeDispatcher = () => {}
    const wake = () => timetable.wake()
    const due = new DueWatches(parts, { wake, wakeDispatcher, cancelRun: (id) => this.#cancel(id) })
    const onCycle = due.noteCycle.bind(due)
    const dueFollowUps = new DueFollowUps({ ...parts, purposes }, { wake, wakeDispatcher, onCycle })
    const timetable: Timetable = new Timetable(parts, [due, dueFollowUps])
    this.#dueWatches = due
    this.#dueFollowUps = dueFollowUps
    this.#timetable = timetable
    this.#timekeeping = new Timekeeping(parts, wake)
    this.#opened = parts
    this.#begun = this.#over = 0
    this.#failure = null
    this.approvals = new Approvals(parts, (run) => this.#noteRun(run))
    this.watches = createWatches(parts, {
      wake,
      onCycle,
      nudge: () => {},
      describeRun: () => Promise.reject(new Error('not asked for')),
    })
    this.followUps = createFollowUps(parts, {
      onPlanned: () => dueFollowUps.notePlanned(),
      onCycle,
      nudge: () => {},
      requireRun: (id) => this.run(id),
    })
  }

  #noteRun(run: RunRecord): void {
    this.#dueWatches.noteRun(run)
    this.#dueFollowUps.noteRun()
  }

  async restart(): Promise<void> {
    await this.close()
    this.open()
    await this.look()
  }

  async close(): Promise<void> {
    await Promise.all([this.#timetable.close(), this.approvals.close()])
  }

  async clear(): Promise<void> {
    if (this.#cleared) return
    this.#cleared = true
    await this.close()
    await this.store.close()
    rmSync(this.dir, { recursive: true, force: true })
  }

  get now(): Date {
    return new Date(this.#wallMs)
  }

  /** Lets time pass, and lets what is due by then happen. */
  async pass(ms: number): Promise<void> {
    this.#wallMs += ms
    this.#monotonicMs += ms
    await this.look()
  }

  /** Sets the clock. */
  async setClock(byMs: number): Promise<void> {
    this.#wallMs += byMs
    await this.look()
  }

  async look(): Promise<void> {
    const before = this.#over
    this.#timetable.wake()
    await this.#quiet(before + 1)
  }

  /**
   * Resolves when all work that has begun is over: no call of the store is in progress, and none follows from the last
   * one.
   */
  async quiet(): Promise<void> {
    await this.#quiet(0)
  }

  async #quiet(looks: number): Promise<void> {
    for (;;) {
      const before = this.#storeCalls
      // Whatever follows from the last result calls the store within these turns of the event loop.
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
      if (this.#failure) throw this.#failure
      const isBusy = this.#storing > 0 || this.#storeCalls !== before
      if (!isBusy && this.#over >= looks && this.#begun === this.#over) return
      if (this.#storeCalls !== before) continue
      await new Promise<void>((resolve) => {
        this.#onChange = resolve
      })
    }
  }

  #counting(store: Store): Store {
    const count = async (call: () => Promise<unknown>) => {
      this.#storeCalls++
      this.#storing++
      try {
        return await call()
      } finally {
        this.#storing--
        this.#onChange()
      }
    }
    const counted = Object.entries(store).map(([name, call]) => [
      name,
      // `hurry` returns at once, without a result.
      name === 'hurry' || typeof call !== 'function'
        ? call
        : (...given: unknown[]) => count(() => (call as (...given: unknown[]) => Promise<unknown>)(...given)),
    ])
    return Object.fromEntries(counted) as Store
  }

  async watch(change: Partial<CreateWatch> = {}): Promise<WatchId> {
    const { id } = await this.watches.createWatch({
      name: 'services',
      workDir: this.dir,
      prompt: 'look around',
      ...change,
    })
    await this.look()
    return id
  }

  /** Oldest first. */
  async cycles(watch = 'services'): Promise<CycleRecord[]> {
    const found = await this.store.findWatch(watch)
    if (!found) throw new Error(`there is no watch ${watch}`)
    return (await this.store.listCycles({ watchId: found.id, limit: 1000 })).items.toReversed()
  }

  async states(watch?: string): Promise<string[]> {
    return (await this.cycles(watch)).map(({ state, outcome }) => (state === 'ended' ? `${outcome}` : state))
  }

  async run(id: RunId): Promise<RunRecord> {
    const run = await this.store.getRun(id)
    if (!run) throw new Error(`there is no run ${id}`)
    return run
  }

  /** Oldest first. */
  async runs(): Promise<RunRecord[]> {
    return (await this.store.listRuns({ limit: 1000 })).items.toReversed()
  }

  async openRuns(): Promise<RunRecord[]> {
    return (await this.runs()).filter(({ state }) => state.at !== 'settled')
  }

  /** The one run that is open. */
  async openRun(): Promise<RunRecord> {
    const [run, ...others] = await this.openRuns()
    if (!run || others.length > 0)
      throw new Error(`expected one open run, found ${others.length + (run ? 1 : 0)}`)
    return run
  }

  /** The run's attempt; one is started if there is none. */
  async attemptOf(run: RunRecord): Promise<AttemptRecord> {
    const known = this.#attempts.get(run.id)
    if (known) return known
    const session = run.sessionId ? await this.store.getSession(run.sessionId) : null
    const fresh = session ? null : newSession({ createdAt: this.now })
    const attempt = await startAttempt(this.store, {
      attempt: newAttempt(run, (session ?? fresh)!, { startedAt: this.now }),
      newSession: fresh,
      events: () => [],
    })
    if (!attempt) throw new Error(`run ${run.id} cannot start`)
    this.#attempts.set(run.id, attempt)
    return attempt
  }

  /** The agent asks for a follow-up. */
  async plan(run: RunRecord, wish: FollowUpWish, prompt = 'verify it'): Promise<Planned> {
    const attempt = await this.attemptOf(run)
    const planned = await addFollowUp(this.parts, {
      prompt,
      reason: null,
      createdBy: 'agent',
      wish,
      run: await this.run(run.id),
      sessionId: attempt.sessionId,
      call: { attemptId: attempt.id, toolUseId: `call-${++this.#calls}` },
    })
    if (planned.ok) this.parts.onPlanned()
    await this.quiet()
    return planned
  }

  /** Settles the run; without `asks` nothing follows at a higher tier. */
  async settle(
    run: RunRecord,
    {
      outcome = COMPLETED,
      status = 'healthy',
      asks = false,
    }: { outcome?: Outcome; status?: Signal['status'] | null; asks?: boolean } = {},
  ): Promise<void> {
    const attempt = await this.attemptOf(run)
    const at = this.now
    const tier =
      run.links.tier === null
        ? null
        : { escalation: escalationOf(run, status, asks, at), next: null, notices: [] }
    const effects = tier ? [this.store.effects.escalate(tier)] : []
    await this.store.endAttempt(ending(attempt, { outcome, next: { kind: 'settle', outcome }, effects, at }))
    this.#attempts.delete(run.id)
    this.#noteRun(run)
    await this.quiet()
  }

  /** Cancels as the engine does: running work is told to stop, and settles when it has. */
  async #cancel(id: RunId): Promise<void> {
    const run = await this.run(id)
    const { now } = this
    const { store } = this.#opened
    const tier = { escalation: escalationOf(run, null, false, now), next: null, notices: [] }
    const cancelled = { name: 'cancelled', message: 'cancelled' } as const
    const chain = await store.listChain(id)
    if (chain[0]) {
      await store.endFollowUpsOf(chain[0].id, { state: 'cancelled', by: 'person', message: null }, now)
    }
    if (await store.settleQueued(id, cancelled, now, [store.effects.escalate(tier)])) return
    if (await store.markCancelRequested(id, now)) return
    for (const one of chain) await this.approvals.withdraw(one.id)
  }
}

function escalationOf(
  { id, links }: RunRecord,
  status: Signal['status'] | null,
  asks: boolean,
  at: Date,
): EscalationRecord {
  const signal: Signal | null = status && {
    status,
    summary: `it is ${status}`,
    checks: [],
    services: [],
    actions: [],
    escalate: asks,
    reason: '',
  }
  return {
    runId: id,
    tier: links.tier ?? 1,
    decision: asks ? 'ask' : 'stop',
    reason: asks ? 'approval-needed' : 'not-recommended',
    message: asks ? 'tier 2 needs approval' : 'nothing more is to be done',
    toTier: asks ? 2 : null,
    nextRunId: null,
    recommendation: { source: signal ? 'structured' : 'none', escalate: asks, signal, problem: null },
    decidedBy: 'rules',
    decidedAt: at,
    expiresAt: asks ? new Date(at.getTime() + 30 * DAY) : null,
  }
}
