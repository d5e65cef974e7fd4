/**
 * Puts the processes of an attempt into a sandbox: those of a tier wherever the machine has one, others if they are asked to be.
 *
 * States of an attempt's folder:
 *   no sandbox.json   The attempt is not in a sandbox: its rules, if it has any, are advisory.
 *   sandbox.json      The attempt is, or will be, in a sandbox with this input. It is written before the agent starts and never
 *                     changed, so a daemon that adopts the attempt knows what holds, whatever is configured by then.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Env, Runtime } from '../../agents/adapter.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { SandboxHost } from '../../process/sandbox/host.ts'
import { insideRelay, outsideRelay, RELAY_FILES, routeTo } from '../../process/sandbox/relayed.ts'
import type { SandboxCommand, SandboxInput, SandboxKind } from '../../process/sandbox/sandbox.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { SandboxSettings } from '../base/settings.ts'
import { fixCommonDir } from './git-dir.ts'
import { Placeholders } from './placeholders.ts'
import { environmentInside, sandboxInputOf, sessionFolders } from './sandbox-input.ts'
import { prepareSessionDir } from './session-dir.ts'

export interface EnclosureDeps {
  store: Pick<Store, 'findSandboxWish'>
  sandbox: SandboxHost
  /** The directory with one folder per session. */
  sandboxes: string
  /** Paths of Reprise itself, which no agent sees: its home, its database. */
  ownPaths: readonly string[]
  /** The directory with state files that agents at tiers may read. */
  stateDir: string
  settings: { sandbox: SandboxSettings }
}

export interface EncloseRequest {
  attempt: AttemptRecord
  dir: AttemptDir
  agent: ConfiguredAgent
  runtime: Runtime
  rules: Tier | null
  workDir: string
  command: SandboxCommand
  env: Env
  protectedPatterns: readonly string[]
  /** Hidden from every agent; `~` is the home directory. */
  hidden: readonly string[]
  /** Files and folders of Reprise that the broker shares with the agent. */
  shared: { visible: readonly string[]; writable: readonly string[] }
  replaced: SandboxInput['replaced']
}

export interface Enclosed {
  command: SandboxCommand
  env: Env
  warnings: readonly string[]
}

/** What an attempt's folder says about its sandbox. */
export interface SandboxRecord {
  kind: SandboxKind
  input: SandboxInput
  placeholders: readonly string[]
}

const RECORD = 'sandbox.json'

const ADVISORY =
  'The rules of this tier are advisory: there is no sandbox on this machine that would hold them. `reprise doctor` says how to get one.'

export class Enclosures {
  readonly #deps: EnclosureDeps
  readonly #placeholders: Placeholders

  constructor(deps: EnclosureDeps) {
    this.#deps = deps
    this.#placeholders = new Placeholders((placeholders) => deps.sandbox.removePlaceholders({ placeholders }))
  }

  /**
   * Which sandbox the run is to be in. Throws if it must be in one and this machine has none. A tier whose sandbox is optional starts
   * without one, and `note` says that its rules are advisory.
   */
  async choose(
    run: RunRecord,
    rules: Tier | null,
    { adapter }: Pick<ConfiguredAgent, 'adapter'>,
  ): Promise<{ sandbox: SandboxKind; note: string | null }> {
    const { settings, sandbox, store } = this.#deps
    const isAsked =
      (run.request.sandbox ?? (await store.findSandboxWish(run)) === true) || settings.sandbox.runs
    if (rules === null && !isAsked) return { sandbox: 'none', note: null }
    const { means, refused } = await sandbox.detect()
    if (means.kind !== 'none' && adapter.enclose !== null) return { sandbox: means.kind, note: null }
    if (rules !== null && !isAsked && !settings.sandbox.tiersNeedIt) {
      const isOpen = rules.network === 'none' ? ' Its network is open, although it should be closed.' : ''
      return { sandbox: 'none', note: ADVISORY + isOpen }
    }
    const why =
      adapter.enclose === null
        ? `${adapter.name} cannot run in one`
        : refused.map(({ kind, message }) => `${kind}: ${message}`).join(' ')
    throw new RepriseError('agent-unavailable', `this run needs a sandbox, and there is none: ${why}`, {
      hint: refused[0]?.advice ?? 'Run it without a sandbox.',
    })
  }

  /** The command that starts the agent in its sandbox. The caller holds the lease of the session. */
  async enclose(request: EncloseRequest): Promise<Enclosed> {
    const { dir, workDir } = request
    this.#placeholders.enter(workDir, dir.path, [])
    try {
      return await this.#enclose(request)
    } catch (error) {
      this.#placeholders.leave(workDir, dir.path)
      throw error
    }
  }

  async #enclose(request: EncloseRequest): Promise<Enclosed> {
    const { sandbox } = this.#deps
    const { dir, workDir } = request
    const { input, warnings, env } = await this.#inputOf(request)
    const relay = request.rules?.network === 'none' ? this.#openRelay(request, dir) : null
    const plan = await sandbox.plan(
      relay ? { ...input, readOnly: [...input.readOnly, ...relay.visible] } : input,
      relay ? relay.inside(request.command) : request.command,
    )
    if (!plan.ok) {
      throw new RepriseError(
        'bad-request',
        `the sandbox cannot be set up: ${plan.problems.map(({ message }) => message).join(' ')}`,
      )
    }
    const placeholders = this.#placeholders.enter(workDir, dir.path, plan.placeholders)
    const record: SandboxRecord = { kind: plan.kind, input, placeholders }
    const file = join(dir.path, RECORD)
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
    sandbox.prepare(plan)
    return {
      command: relay ? relay.outside(plan.command) : plan.command,
      env: { ...environmentInside(env), ...relay?.env },
      warnings: [...warnings, ...plan.warnings],
    }
  }

  /** The properties of the sandbox, and the agent's environment in it. */
  async #inputOf({ attempt, agent, dir, workDir, runtime, ...request }: EncloseRequest) {
    const { sandboxes, ownPaths, stateDir } = this.#deps
    const enclosure = await agent.adapter.enclose?.({
      agentSessionId: attempt.agentSessionId,
      env: request.env,
      workDir,
    })
    if (!enclosure) throw new Error(`${agent.adapter.name} cannot run in a sandbox`)
    const [sessionDir, scratch] = [join(sandboxes, attempt.sessionId), join(dir.path, 'sandbox')]
    prepareSessionDir(sessionDir, sessionFolders, enclosure.disposable)
    mkdirSync(scratch, { recursive: true, mode: 0o700 })
    if (request.rules === null || request.rules.files.write.length > 0)
      this.#placeholders.enter(workDir, dir.path, fixCommonDir(workDir))
    const planned = sandboxInputOf({
      workDir,
      rules: request.rules,
      enclosure,
      env: request.env,
      sessionDir,
      scratch,
      programDir: dirname(runtime.path),
      own: {
        hidden: ownPaths,
        visible: [stateDir, ...request.shared.visible],
        writable: request.shared.writable,
      },
      protectedPatterns: request.protectedPatterns,
      hidden: request.hidden,
      replaced: request.replaced ?? [],
    })
    return { ...planned, env: enclosure.env }
  }

  /** The way to the model from a sandbox without a network. */
  #openRelay({ agent: { adapter }, env }: EncloseRequest, { path }: AttemptDir) {
    const route = routeTo(adapter.account(env).connectsTo)
    if (!route.ok) {
      throw new RepriseError('bad-request', `network: none is not possible, because ${route.problem}`, {
        hint: 'Set network: open for this tier.',
      })
    }
    const dir = join(path, 'relay')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    return {
      env: route.env,
      visible: [dir, ...RELAY_FILES.map((file) => dirname(file))],
      inside: (command: SandboxCommand) => insideRelay(command, route, dir),
      outside: (command: SandboxCommand) => outsideRelay(command, route, dir),
    }
  }

  /**
   * Notes that an attempt may be in a sandbox: what it needs in the work directory stays. The function that it returns says that the
   * attempt is over.
   */
  hold(dir: AttemptDir): () => void {
    const record = this.read(dir)
    if (record === null) return () => {}
    const { workDir } = record.input
    this.#placeholders.enter(workDir, dir.path, record.placeholders)
    return () => this.#placeholders.leave(workDir, dir.path)
  }

  /** null: the attempt is not in a sandbox. */
  read(dir: AttemptDir): SandboxRecord | null {
    const path = join(dir.path, RECORD)
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SandboxRecord) : null
  }
}
