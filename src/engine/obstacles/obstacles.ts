/**
 * Handles limits and outages: records the ones that attempts meet and the answers of the model, and makes runs wait
 * behind open obstacles. The state is in the store; memory only holds which accounts have an open obstacle, so that
 * other runs need no query.
 */
import { createHash } from 'node:crypto'
import type { Account } from '../../agents/adapter.ts'
import type { AgentRegistry } from '../../agents/registry.ts'
import type { EventOf } from '../../contract/events.ts'
import type { Status } from '../../contract/http.ts'
import type { Obstacle as DescribedObstacle, Quota } from '../../contract/obstacle.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Clock } from '../../core/clock.ts'
import {
  metIn,
  type Obstacle,
  RETRY_PAUSED_MS,
  SET_UP_BACKOFF_MS,
  SET_UP_LIMIT_MS,
} from '../../core/obstacle/obstacle.ts'
import { decideWait, type Wait } from '../../core/obstacle/wait.ts'
import { outcomeAfterGivingUp, sayPaused, saySetUp } from '../../core/obstacle/words.ts'
import { formatSpan } from '../../core/span.ts'
import type { Access } from '../../store/obstacles/obstacles.ts'
import { obstacleKey } from '../../store/obstacles/rows.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { StorageFailures } from '../base/storage-failures.ts'

interface Parts {
  store: Store
  agents: AgentRegistry
  clock: Pick<Clock, 'now'>
  random: () => number
  log: Log
  bus: ProgressBus
  closing: AbortSignal
  storageFailures?: StorageFailures
  settings: { outageLimitMs: number; jobs: { backoffMs: number } }
}

type Run = Pick<RunRecord, 'id' | 'agent' | 'model' | 'createdAt'>

/** What happens to a run that has waited as long as allowed. */
type AfterLongWait = 'settle' | 'pause'

export interface Ended {
  run: Run
  attempt: Pick<AttemptRecord, 'id' | 'startedAt'>
  outcome: Outcome
  afterLongWait: AfterLongWait
  /** How many of the newest attempts made no progress, and when the first of them began. */
  withoutProgress: number
  withoutProgressSince: Date
}

interface Known extends Access, Pick<Account, 'baseUrl' | 'baseUrlSetting'> {}

export class Obstacles {
  readonly #parts: Parts
  readonly #onRelease: () => void
  /** Accounts with an open obstacle. */
  readonly #blocked = new Set<string>()
  /**
   * When the model last answered a request, by account and model. Adjusted when the clock is set, as stored times are.
   */
  readonly #answeredAt = new Map<string, Date>()
  readonly #quotas = new Map<string, string>()

  constructor(parts: Parts, onRelease: () => void) {
    this.#parts = parts
    this.#onRelease = onRelease
  }

  /** Must be called before any run is started. */
  async open(): Promise<void> {
    const { store, clock, log } = this.#parts
    const released = await this.#tidy()
    if (released > 0) log.info({ released }, 'other credentials are configured; waiting runs continue')
    for (const { account } of await store.listObstacles(clock.now())) this.#blocked.add(account)
  }

  /** Called periodically. */
  async sweep(): Promise<void> {
    if ((await this.#tidy()) + (await this.#retryPaused()) > 0) this.#onRelease()
  }

  /** Called after the clock was set by `jumpMs` and the stored times were moved. */
  followJump(jumpMs: number): void {
    for (const [key, at] of this.#answeredAt) this.#answeredAt.set(key, new Date(at.getTime() + jumpMs))
  }

  /**
   * Whether the run may start now. `wait`: it was postponed. `settle` and `pause`: it has waited as long as allowed.
   */
  async pass(
    run: Run,
    afterLongWait: AfterLongWait,
  ): Promise<
    | { kind: 'go' | 'wait' }
    | { kind: 'settle'; outcome: Outcome }
    | { kind: 'pause'; behind: Obstacle; why: string }
  > {
    const access = this.#accessOf(run)
    if (!access || !this.#blocked.has(access.account)) return { kind: 'go' }
    const { store, clock, settings, bus } = this.#parts
    const setUp = await this.findSetUpDoubt(run)
    const limitMs =
      setUp === null ? settings.outageLimitMs : Math.min(settings.outageLimitMs, SET_UP_LIMIT_MS)
    const passage = await persist(this.#parts, () => store.passObstacles(run, access, limitMs, clock.now()))
    if (passage.kind === 'go') return { kind: 'go' }
    if (passage.kind === 'give-up') {
      const { behind } = passage
      const doubt = behind.kind === 'outage' && limitMs < settings.outageLimitMs ? setUp : null
      const why = doubt === null ? passage.why : `others have tried for ${formatSpan(limitMs)}; ${doubt}`
      if (afterLongWait === 'settle') return { kind: 'settle', outcome: outcomeAfterGivingUp(behind, why) }
      return { kind: 'pause', behind, why: sayPaused(behind, why, run.id, true) }
    }
    bus.publish(run.id)
    return { kind: 'wait' }
  }

  /** Called when an attempt has ended. Returns null if it met neither a limit nor an outage. Idempotent. */
  async meet(ended: Ended): Promise<(Wait & { heldBy: string | null }) | null> {
    const { run, attempt, outcome } = ended
    const { store, clock, settings, random } = this.#parts
    const met = metIn(outcome)
    const access = met && this.#accessOf(run)
    if (!met || !access) return null
    const now = clock.now()
    const isOwn = met.scope === 'machine'
    const setUp = met.kind === 'outage' && !isOwn ? await this.findSetUpDoubt(run) : null
    const { backoffMs: usual } = settings.jobs
    const backoffMs = setUp === null ? usual : Math.min(usual, SET_UP_BACKOFF_MS)
    // If other requests were answered during this attempt, its failure must not delay other runs.
    const answeredAt = this.#answeredAt.get(keyOf(access))
    const onlyThis =
      isOwn ||
      (met.kind === 'outage' && met.scope === 'model' && answeredAt && answeredAt > attempt.startedAt)
    const obstacle = onlyThis
      ? null
      : await persist(this.#parts, () =>
          store.meetObstacle(
            met,
            { ...access, id: attempt.id, runId: run.id, startedAt: attempt.startedAt },
            { backoffMs, jitter: random() },
            now,
          ),
        )
    if (obstacle) this.#blocked.add(access.account)
    const wait = decideWait({
      runId: run.id,
      isJob: ended.afterLongWait === 'settle',
      met,
      obstacle,
      createdAt: run.createdAt,
      withoutProgress: ended.withoutProgress,
      withoutProgressSince: ended.withoutProgressSince,
      limitMs: settings.outageLimitMs,
      backoffMs,
      setUp,
      now,
    })
    const held = wait.kind === 'pause' || (wait.kind === 'retry' && wait.behindObstacle)
    return { ...wait, heldBy: held && obstacle ? obstacleKey(obstacle) : null }
  }

  /** A message about a probable configuration mistake if the address has never answered; otherwise null. */
  async findSetUpDoubt(run: Run): Promise<string | null> {
    const access = this.#accessOf(run)
    if (!access || (await this.#hasAnswered(access))) return null
    return saySetUp(access.baseUrl, access.baseUrlSetting)
  }

  /** Whether an agent should not wait in its process: an obstacle is open, or the account has never answered. */
  async isShortOfPatience(run: Run): Promise<boolean> {
    const access = this.#accessOf(run)
    return access !== null && (this.#blocked.has(access.account) || !(await this.#hasAnswered(access)))
  }

  /** Records that the model answered a request that was made at `calledAt`. */
  async noteAnswer(run: Run, calledAt: Date): Promise<void> {
    const access = this.#accessOf(run)
    if (!access) return
    const { store, clock, log, bus } = this.#parts
    const first = !(await this.#hasAnswered(access))
    this.#answeredAt.set(keyOf(access), clock.now())
    if (first) {
      const at = clock.now().toISOString()
      for (const key of answeredKeys(access)) await persist(this.#parts, () => store.putFact(key, at))
    }
    if (!this.#blocked.has(access.account)) return
    const released = await persist(this.#parts, () =>
      store.closeObstacles(access, run.id, calledAt, clock.now()),
    )
    const left = await store.listObstacles(clock.now())
    if (!left.some(({ account }) => account === access.account)) this.#blocked.delete(access.account)
    if (released.length === 0) return
    log.info({ run: run.id, released: released.length }, 'the model answers again; waiting runs continue')
    for (const id of released) bus.publish(id)
    this.#onRelease()
  }

  /** Records how much of its account's limits is used, as the agent reports it. */
  async noteQuota(run: Run, { windows, status }: EventOf<'rate-limit'>): Promise<void> {
    const access = this.#accessOf(run)
    if (!access || !windows) return
    const { store, clock } = this.#parts
    const said = JSON.stringify({ status, windows })
    if (this.#quotas.get(access.account) === said) return
    this.#quotas.set(access.account, said)
    const quota = { status, windows, at: clock.now().toISOString() }
    await persist(this.#parts, () => store.putFact(quotaKey(access), JSON.stringify(quota)))
  }

  async describe(): Promise<Pick<Status, 'obstacles' | 'quotas' | 'paused'>> {
    const { store, clock, agents } = this.#parts
    const accounts = new Map<string, { agents: string[]; access: Known }>()
    for (const name of agents.names()) {
      const access = this.#accessOf({ agent: name, model: null })
      if (!access) continue
      const known = accounts.get(access.account) ?? { agents: [], access }
      accounts.set(access.account, { ...known, agents: [...known.agents, name] })
    }
    const quotas: Quota[] = []
    for (const [account, { agents: names, access }] of accounts) {
      const quota = await store.getFact(quotaKey(access))
      if (quota) quotas.push({ account, agents: names, ...JSON.parse(quota) })
    }
    const obstacles: DescribedObstacle[] = []
    for (const open of await store.listObstacles(clock.now())) {
      const known = accounts.get(open.account)
      obstacles.push({
        kind: open.kind,
        account: open.account,
        agents: known?.agents ?? [],
        baseUrl: known?.access.baseUrl ?? null,
        model: open.model,
        message: open.message,
        // A limit is an answer: the address, the proxy and the login work.
        neverAnswered: open.kind === 'outage' && known ? !(await this.#hasAnswered(known.access)) : false,
        since: open.since.toISOString(),
        nextTryAt: open.nextTryAt.toISOString(),
        resetsAt: open.resetsAt?.toISOString() ?? null,
        failures: open.failures,
        probe: open.probe as DescribedObstacle['probe'],
        waiting: open.waiting,
        waitingCount: open.waitingCount,
      })
    }
    return { obstacles, quotas, paused: await store.listPaused() }
  }

  /** Releases runs that wait behind an obstacle of credentials that they no longer use, and deletes old obstacles. */
  async #tidy(): Promise<number> {
    const { store, clock } = this.#parts
    const own = (run: Pick<Run, 'agent' | 'model'>) => this.#accessOf(run)?.account ?? null
    const released = await persist(this.#parts, () => store.tidyObstacles(own, clock.now()))
    return released.length
  }

  /** Makes paused runs try again that no other run would release. Returns their number. */
  async #retryPaused(): Promise<number> {
    const { store, clock, bus } = this.#parts
    const now = clock.now()
    const due = await store.listPausedDue(new Date(now.getTime() - RETRY_PAUSED_MS), now)
    for (const id of due) {
      await persist(this.#parts, () => store.hastenRun(id, now))
      bus.publish(id)
    }
    return due.length
  }

  async #hasAnswered(access: Known): Promise<boolean> {
    for (const key of this.#answeredAt.keys()) if (key.startsWith(`${access.account}/`)) return true
    for (const key of answeredKeys(access)) if ((await this.#parts.store.getFact(key)) !== null) return true
    return false
  }

  /** Returns null if the agent is not configured any more. */
  #accessOf({ agent, model }: Pick<Run, 'agent' | 'model'>): Known | null {
    const configured = this.#parts.agents.find(agent)
    if (!configured) return null
    const { identity, ...where } = configured.adapter.account(configured.env)
    const account = createHash('sha256')
      .update(JSON.stringify([configured.adapter.name, where.baseUrl, identity]))
      .digest('hex')
      .slice(0, 16)
    return { ...where, account, model: model ?? configured.model ?? DEFAULT_MODEL }
  }
}

/** Stands for the model of runs that leave the choice to the agent. */
const DEFAULT_MODEL = 'default'

const keyOf = ({ account, model }: Access) => `${account}/${model}`
/** The address has a key of its own, because it has answered before even if the credentials are new. */
const answeredKeys = ({ account, baseUrl }: Known) => [`answered:${account}`, `answered:${baseUrl}`]
const quotaKey = ({ account }: Access) => `quota:${account}`
