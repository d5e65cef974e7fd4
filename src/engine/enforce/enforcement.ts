/**
 * Enforces the rules of an attempt. With a sandbox: the kernel holds what it can touch, the broker judges the programs that act on the
 * world, and the gate refuses early, with a reason, what is plainly written. Without one, the gate is all there is, and the rules are
 * advisory.
 */
import type { Env, Plan, Runtime } from '../../agents/adapter.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import { DEFAULT_HIDDEN_PATHS } from '../../core/rules/default-paths.ts'
import type { Enforcement as EnforcedBy } from '../../core/shell/tool-rules.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { SandboxCommand } from '../../process/sandbox/sandbox.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import { withPolicy } from '../base/policy.ts'
import type { Purposes } from '../base/purposes.ts'
import { type BrokeredAttempt, Brokering, type BrokeringDeps } from './brokering.ts'
import { type EnclosureDeps, Enclosures } from './enclosures.ts'
import { Gate, type GateDeps } from './gate.ts'
import { isGated } from './gated.ts'

export type EnforcementDeps = GateDeps &
  EnclosureDeps &
  BrokeringDeps & {
    purposes: Pick<Purposes, 'of'>
    settings: { dryRun: boolean }
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

/** A run without a tier has no rules by which a broker could judge, so it has none. */
const NOT_BROKERED = { shared: { visible: [], writable: [] }, replaced: [] }

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

export class Enforcement {
  readonly #deps: EnforcementDeps
  readonly #enclosures: Enclosures
  readonly #brokering: Brokering

  constructor(deps: EnforcementDeps) {
    this.#deps = deps
    this.#enclosures = new Enclosures(deps)
    this.#brokering = new Brokering(deps)
  }

  /** The gate of an attempt that is adopted. null: only the permissions of the run's request apply. */
  openGate(
    run: RunRecord,
    attempt: AttemptRecord,
    agent: Pick<ConfiguredAgent, 'adapter' | 'env'>,
    dir: AttemptDir,
  ): Gate | null {
    return this.#openGate(run, attempt, agent, this.#enclosures.read(dir) === null ? 'advisory' : 'kernel')
  }

  #openGate(
    run: RunRecord,
    attempt: AttemptRecord,
    { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
    enforcement: EnforcedBy,
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
    const gate = this.#openGate(run, attempt, agent, sandbox === 'none' ? 'advisory' : 'kernel')
    const env = gate ? this.#environment(run, agent.env) : agent.env
    const command = { program: runtime.path, args: plan.args }
    if (sandbox === 'none') return { gate, command, env, warnings: [] }
    const rules = this.#rulesOf(run)
    const installed =
      rules === null ? NOT_BROKERED : await this.#brokering.install({ dir, attempt, workDir }, env)
    const { protectedPaths, hiddenPaths, settings } = this.#deps
    const enclosed = await this.#enclosures.enclose({
      ...{ attempt, dir, agent, runtime, rules, workDir, command, env, ...installed },
      protectedPatterns: [...withPolicy(settings.escalation.rules, run).protectedPaths, ...protectedPaths],
      hidden: [...DEFAULT_HIDDEN_PATHS, ...hiddenPaths],
    })
    return { gate, ...enclosed }
  }

  /** The environment of an agent that has rules. */
  #environment(run: RunRecord, env: Env): Env {
    const rules = this.#rulesOf(run)
    return {
      ...env,
      ...GIT_WITHOUT_PROGRAMS,
      REPRISE_STATE_DIR: this.#deps.stateDir,
      REPRISE_DRY_RUN: String(run.request.dryRun === true || this.#deps.settings.dryRun),
      ...(rules === null ? {} : { REPRISE_TIER: String(rules.number) }),
    }
  }

  /**
   * Notes that an attempt of an earlier daemon may still be in a sandbox, before any of them is adopted: what they need in their work
   * directories stays until the last one has ended.
   */
  expect(dir: AttemptDir): void {
    this.#enclosures.hold(dir)
  }

  /** Called for an attempt that was arranged, or expected, but is never attended. */
  release(dir: AttemptDir): void {
    this.#enclosures.hold(dir)()
  }

  /**
   * Works for the attempt while it is supervised. The function that it returns must be called when that is over, with whether the attempt
   * has ended.
   */
  accompany(attended: BrokeredAttempt, gate: Gate | null): (hasEnded: boolean) => Promise<void> {
    const record = this.#enclosures.read(attended.dir)
    if (record === null) return async () => {}
    const release = this.#enclosures.hold(attended.dir)
    const isBrokered = gate !== null && this.#rulesOf(attended.run) !== null
    const broker = isBrokered
      ? this.#brokering.open(attended, gate, this.#deps.sandbox.rolesOf(record.input))
      : null
    return async (hasEnded) => {
      await broker?.close(hasEnded)
      if (hasEnded) release()
    }
  }

  #rulesOf(run: RunRecord) {
    return this.#deps.purposes.of(run).rulesOf(run)
  }
}
