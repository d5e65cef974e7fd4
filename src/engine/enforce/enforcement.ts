/** Enforces the rules of an attempt in two places: at tool calls, and where programs are started. */
import { join } from 'node:path'
import type { Env, Plan, Runtime } from '../../agents/adapter.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { EventBody } from '../../contract/events.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import type { Clock } from '../../core/clock.ts'
import type { Enforcement as EnforcedBy } from '../../core/shell/policy.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import { GuardDesk } from '../../process/guard-desk.ts'
import { installGuards, withGuards } from '../../process/guards.ts'
import type { Handling } from '../../process/handling.ts'
import type { SandboxCommand } from '../../process/sandbox/sandbox.ts'
import { OwnershipLost } from '../../store/base/errors.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { Detached, type Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { Purposes } from '../base/purposes.ts'
import { type EnclosureDeps, Enclosures } from './enclosures.ts'
import { Gate, type GateDeps, type ProgramStart } from './gate.ts'
import { isGated } from './gated.ts'

export type EnforcementDeps = GateDeps &
  EnclosureDeps & {
    store: Pick<Store, 'addEvents'>
    purposes: Pick<Purposes, 'of'>
    clock: Clock
    bus: Pick<ProgressBus, 'publish'>
    persist: Persist
    handling: Pick<Handling, 'during'>
    /** The directory with state files that agents at tiers may read. */
    stateDir: string
  }

export interface ArrangeInput {
  run: RunRecord
  attempt: AttemptRecord
  dir: AttemptDir
  agent: ConfiguredAgent
  runtime: Runtime
  plan: Pick<Plan, 'args'>
  workDir: string
  sandbox: SandboxName
}

export interface Arranged {
  /** null: only the permissions of the run's request apply. */
  gate: Gate | null
  command: SandboxCommand
  env: Env
  /** What the sandbox cannot guarantee. */
  warnings: readonly string[]
}

const guardsOf = (dir: AttemptDir) => join(dir.path, 'guards')

/**
 * A repository's own git configuration may name programs that git starts, so anybody who can write it could run
 * anything.
 */
const GIT_WITHOUT_PROGRAMS = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
  GIT_CONFIG_KEY_2: 'safe.bareRepository',
  GIT_CONFIG_VALUE_2: 'explicit',
}

/** If this daemon is closing or has lost the attempt, the guard gets no answer and waits for the next daemon. */
const leaveOpen = (signal: AbortSignal) => (error: unknown) => {
  if (!(error instanceof Detached) && !(error instanceof OwnershipLost)) throw error
  return new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(error), { once: true })
  })
}

export class Enforcement {
  readonly #deps: EnforcementDeps
  readonly #enclosures: Enclosures

  constructor(deps: EnforcementDeps) {
    this.#deps = deps
    this.#enclosures = new Enclosures(deps)
  }

  /** Returns null if only the permissions of the run's request apply. */
  openGate(
    run: RunRecord,
    attempt: AttemptRecord,
    { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
    enforcement: EnforcedBy = 'advisory',
  ): Gate | null {
    const rules = this.#rulesOf(run)
    if (!isGated(this.#deps.settings, rules, run)) return null
    return new Gate(this.#deps, { run, attempt, rules, env, files: adapter.ownFiles(env), enforcement })
  }

  /** Whether the run was admitted without a dry run, although every run is a dry run now. */
  wasFree(run: RunRecord): boolean {
    return this.#deps.settings.dryRun && this.#rulesOf(run) === null && run.request.dryRun !== true
  }

  /** Which sandbox the run's next attempt is to be in. */
  chooseSandbox(run: RunRecord, agent: Pick<ConfiguredAgent, 'adapter'>) {
    return this.#enclosures.choose(run, this.#rulesOf(run), agent)
  }

  /** Everything that holds an attempt, right before it is started: its gate, its sandbox, its environment. */
  async arrange({
    run,
    attempt,
    dir,
    agent,
    runtime,
    plan,
    workDir,
    sandbox,
  }: ArrangeInput): Promise<Arranged> {
    const gate = this.openGate(run, attempt, agent)
    const env = gate ? this.#environment(run, dir, gate, agent.env, sandbox) : agent.env
    const command = { program: runtime.path, args: plan.args }
    if (sandbox === 'none') return { gate, command, env, warnings: [] }
    const rules = this.#rulesOf(run)
    const enclosed = await this.#enclosures.enclose({
      ...{ attempt, dir, agent, runtime, rules, workDir, command, env },
      protectedPatterns: [
        ...this.#deps.settings.escalation.rules.protectedPaths,
        ...this.#deps.protectedPaths,
      ],
      shared: { visible: [], writable: [] },
      replaced: [],
    })
    return { gate, ...enclosed }
  }

  /** The environment of an agent that has rules. */
  #environment(run: RunRecord, dir: AttemptDir, gate: Gate, env: Env, sandbox: SandboxName): Env {
    const rules = this.#rulesOf(run)
    const known = {
      ...env,
      ...GIT_WITHOUT_PROGRAMS,
      REPRISE_STATE_DIR: this.#deps.stateDir,
      REPRISE_DRY_RUN: String(run.request.dryRun === true || this.#deps.settings.dryRun),
      ...(rules === null ? {} : { REPRISE_TIER: String(rules.number) }),
    }
    if (rules === null || sandbox !== 'none') return known
    return withGuards(known, installGuards({ dir: guardsOf(dir), programs: gate.programs }))
  }

  /**
   * Works for the attempt while it is supervised. The function that it returns must be called when that is over, with whether the attempt
   * has ended.
   */
  accompany(
    attended: { run: RunRecord; attempt: AttemptRecord; dir: AttemptDir },
    gate: Gate | null,
  ): (hasEnded: boolean) => void {
    const release = this.#enclosures.hold(attended.dir)
    const desk = gate && this.#openDesk(attended, gate)
    return (hasEnded) => {
      desk?.close()
      if (hasEnded) release()
    }
  }

  /** Answers the guards. */
  #openDesk(
    { run, attempt, dir }: { run: RunRecord; attempt: AttemptRecord; dir: AttemptDir },
    gate: Gate,
  ): GuardDesk | null {
    if (this.#rulesOf(run) === null || this.#enclosures.read(dir) !== null) return null
    const { store, clock, bus, log, persist, handling } = this.#deps
    const note = (event: EventBody) =>
      persist(() => store.addEvents(attempt, [event], clock.now()))
        .then(() => bus.publish(run.id))
        .catch((error) =>
          log.error({ run: run.id, error: String(error) }, 'could not record the start of a program'),
        )
    const decideNoted = (start: ProgramStart) =>
      handling.during(run.id, 'guard', start.id, () => gate.decideStart(start))
    /** Events to record after the guard has received its answer. */
    const records = new Map<string, EventBody>()
    return new GuardDesk({
      dir: guardsOf(dir),
      decide: async ({ id, program, args, cwd }, signal) => {
        const start = { id, program, args, workDir: cwd }
        const { refusal, looks } = await decideNoted(start).catch(leaveOpen(signal))
        const what = [program, ...args].join(' ')
        if (refusal) records.set(id, refusal)
        else if (!looks) records.set(id, { type: 'program-start', program, what, workDir: cwd })
        return refusal ? { decision: 'deny', reason: refusal.reason } : { decision: 'allow', reason: '' }
      },
      onDelivered: ({ id }) => {
        const record = records.get(id)
        records.delete(id)
        if (record) void note(record)
      },
    })
  }

  #rulesOf(run: RunRecord) {
    return this.#deps.purposes.of(run).rulesOf(run)
  }
}
