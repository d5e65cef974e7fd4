/**
 * The configured agents, and the runtime that each one resolves to now. Probing starts the executable twice, so its
 * result is cached per executable: command, real path, size, modification time. A changed file is probed again.
 *
 * A runtime is identified by the command as it was found and by its capabilities. Neither the version nor the file
 * behind the command is part of the identity, so an upgrade does not create another runtime.
 *
 * Which adapter drove a runtime is stored permanently: an agent's processes may still run, and its output may still
 * have to be read, after its configuration was changed or removed.
 */
import { createHash } from 'node:crypto'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join, relative, resolve } from 'node:path'
import type { Agent, Capabilities } from '../contract/agent.ts'
import { RepriseError } from '../contract/errors.ts'
import type { RuntimeFacts } from '../core/resume/runtime.ts'
import type { AgentAdapter, Env, Runtime } from './adapter.ts'

export interface ConfiguredAgent {
  name: string
  adapter: AgentAdapter
  /** null: look for the adapter's usual names. */
  command: string | null
  env: Env
  model: string | null
  args: readonly string[]
  simulated: boolean
}

export type Variables = Readonly<Record<string, string | undefined>>

export interface ProbeCache {
  get: (key: string) => Promise<string | null>
  put: (key: string, value: string) => Promise<void>
}

export class AgentRegistry {
  readonly #agents: ReadonlyMap<string, ConfiguredAgent>
  readonly #adapters: ReadonlyMap<string, AgentAdapter>
  readonly #cache: ProbeCache
  readonly #fallbackDirs: readonly string[]
  readonly #probing = new Map<string, Promise<Runtime>>()
  readonly #variables = new Map<string, Variables>()

  /**
   * `fallbackDirs` are searched after PATH: the executables that a checkout contains. `adapters` are those that earlier
   * agents may have used; those of the configured agents need not be listed.
   */
  constructor(
    agents: readonly ConfiguredAgent[],
    cache: ProbeCache,
    fallbackDirs: readonly string[],
    adapters: readonly AgentAdapter[] = [],
  ) {
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]))
    const known = [...adapters, ...agents.map((agent) => agent.adapter)]
    this.#adapters = new Map(known.map((adapter) => [adapter.name, adapter]))
    this.#cache = cache
    this.#fallbackDirs = fallbackDirs
  }

  all(): ConfiguredAgent[] {
    return [...this.#agents.values()]
  }

  names(): string[] {
    return [...this.#agents.keys()]
  }

  /** `runId`: with the variables of this run. */
  find(name: string, runId?: string): ConfiguredAgent | null {
    const agent = this.#agents.get(name) ?? null
    const variables = agent && runId !== undefined ? this.#variables.get(runId) : undefined
    return agent && variables ? { ...agent, env: merged(agent.env, variables) } : agent
  }

  /**
   * Variables for one run, in addition to those of its agent; undefined removes one. They may be secrets of the program
   * that embeds Reprise, so they are only kept in memory. Returns a function that forgets them.
   */
  setVariables(runId: string, variables: Variables): () => void {
    this.#variables.set(runId, variables)
    return () => this.#variables.delete(runId)
  }

  get(name: string, runId?: string): ConfiguredAgent {
    const agent = this.find(name, runId)
    if (agent) return agent
    throw new RepriseError('agent-unknown', `there is no agent named ${JSON.stringify(name)}`, {
      hint: `Configured agents: ${this.names().join(', ')}. Add others under agents: in config.yaml.`,
    })
  }

  /** The agent that is used when none is named. */
  get defaultName(): string {
    const [first] = this.names()
    if (first === undefined) throw new RepriseError('agent-unknown', 'no agent is configured')
    return first
  }

  /**
   * For an agent that is no longer configured, returns the adapter of the default agent, which is most likely the same.
   */
  likelyAdapter(name: string): AgentAdapter {
    return (this.find(name) ?? this.get(this.defaultName)).adapter
  }

  /** The adapter that drove this runtime, even if the agent is no longer configured, or configured differently. */
  async adapterOf(name: string, runtimeId: string): Promise<AgentAdapter> {
    const driver = await this.#cache.get(driverKey(runtimeId))
    return (driver === null ? null : this.#adapters.get(driver)) ?? this.get(name).adapter
  }

  async runtime(name: string): Promise<Runtime> {
    const agent = this.get(name)
    const { path, command } = this.#find(agent)
    const { size, mtimeMs, ino } = statSync(path)
    const key = `runtime-3:${agent.adapter.name}:${hashOf(command, path, `${size}:${mtimeMs}:${ino}`)}`
    const known = await this.#cache.get(key)
    if (known) return JSON.parse(known) as Runtime
    let probing = this.#probing.get(key)
    if (!probing) {
      probing = agent.adapter
        .probe(path, agent.env)
        .then((probe) => ({ path, command, ...probe, runtimeId: fingerprint(command, probe.capabilities) }))
        .finally(() => this.#probing.delete(key))
      this.#probing.set(key, probing)
    }
    const runtime = await probing
    // In this order, so that every known runtime has a known adapter.
    await this.#cache.put(driverKey(runtime.runtimeId), agent.adapter.name)
    await this.#cache.put(key, JSON.stringify(runtime))
    return runtime
  }

  listSimulated(): string[] {
    return [...this.#agents.values()].filter(({ simulated }) => simulated).map(({ name }) => name)
  }

  async describe(): Promise<Agent[]> {
    return Promise.all([...this.#agents.values()].map((agent) => this.#describe(agent)))
  }

  async #describe(agent: ConfiguredAgent): Promise<Agent> {
    const base = {
      name: agent.name,
      adapter: agent.adapter.name,
      command: agent.command ?? agent.adapter.commands.join(', '),
      loggedIn: await agent.adapter.hasCredentials(agent.env),
      simulated: agent.simulated,
      connectsTo: agent.adapter.account(agent.env).connectsTo,
    }
    try {
      const { path, version, runtimeId, capabilities } = await this.runtime(agent.name)
      return { ...base, available: true, problem: null, path, version, runtimeId, capabilities }
    } catch (error) {
      const problem = (error as Error).message
      return {
        ...base,
        available: false,
        problem,
        path: null,
        version: null,
        runtimeId: null,
        capabilities: null,
      }
    }
  }

  /** Synchronous: it checks every folder of PATH before each run, which is faster than asynchronous calls. */
  #find(agent: ConfiguredAgent): { path: string; command: string } {
    const candidates = agent.command === null ? agent.adapter.commands : [agent.command]
    const dirs = [...(agent.env.PATH ?? '').split(delimiter).filter(Boolean), ...this.#fallbackDirs]
    for (const command of candidates) {
      const paths =
        isAbsolute(command) || command.includes('/')
          ? [resolve(command)]
          : dirs.map((dir) => join(dir, command))
      for (const path of paths) {
        if (isExecutable(path)) return { path: realpathSync.native(path), command: this.#nameOf(path, agent) }
      }
    }
    throw new RepriseError(
      'agent-unavailable',
      `${agent.name}: no executable ${candidates.join(' or ')} found`,
      {
        hint:
          agent.command === null
            ? agent.adapter.installHint
            : `Correct agents.${agent.name}.command in config.yaml.`,
      },
    )
  }

  /**
   * Makes the name of an installation the same in another user's home and in a Reprise checkout that was moved, so that
   * a session that is copied there can be resumed.
   */
  #nameOf(path: string, { env }: ConfiguredAgent): string {
    if (this.#fallbackDirs.some((dir) => path.startsWith(`${dir}/`))) return `bundled ${basename(path)}`
    const below = env.HOME ? relative(env.HOME, path) : '..'
    return below.startsWith('..') ? path : `~/${below}`
  }
}

const merged = (env: Env, variables: Variables): Env =>
  Object.fromEntries(
    Object.entries({ ...env, ...variables }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )

/** The facts about a runtime that are stored with each session it writes. */
export function factsOf({ runtimeId, command, version, capabilities }: Runtime): RuntimeFacts {
  return { id: runtimeId, command, version, can: namesOf(capabilities) }
}

const namesOf = (capabilities: Capabilities) =>
  Object.entries(capabilities).flatMap(([name, can]) => (can ? [name] : []))

const fingerprint = (command: string, capabilities: Capabilities) =>
  hashOf(command, ...namesOf(capabilities)).slice(0, 16)

const hashOf = (...parts: string[]) => createHash('sha256').update(parts.join('\0')).digest('hex')

const driverKey = (runtimeId: string) => `adapter:${runtimeId}`

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
