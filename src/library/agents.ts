/**
 * Creates the agents from the configuration. An agent without credentials on this machine uses the simulator, with a
 * configuration folder of its own, so that a newcomer can try Reprise without changing their own agent's files.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentAdapter } from '../agents/adapter.ts'
import { claudeAdapter } from '../agents/claude/adapter.ts'
import { buildEnvironment } from '../agents/environment.ts'
import type { ConfiguredAgent } from '../agents/registry.ts'
import { agentNames } from '../config/agent-names.ts'
import type { Config } from '../config/schema.ts'
import type { AdapterName } from '../contract/agent.ts'

const ADAPTERS: Readonly<Record<AdapterName, AgentAdapter>> = { claude: claudeAdapter }
export const ALL_ADAPTERS: readonly AgentAdapter[] = Object.values(ADAPTERS)

export type MachineEnv = Readonly<Record<string, string | undefined>>

export function configureAgents({ agents }: Config, machine: MachineEnv): ConfiguredAgent[] {
  return agentNames({ agents }).map(({ name, adapter: behavesLike }) => {
    const settings = agents[name] ?? {}
    // The configuration loader has checked that every agent has an adapter.
    const adapter = ADAPTERS[behavesLike as AdapterName]
    return {
      name,
      adapter,
      command: settings.command ?? null,
      env: buildEnvironment(adapter, machine, settings.env ?? {}),
      model: settings.model ?? null,
      args: settings.args ?? [],
      simulated: false,
    }
  })
}

/** False for an agent that has credentials, or whose model address is configured. */
export async function needsSimulator({ adapter, env }: ConfiguredAgent): Promise<boolean> {
  return !(await adapter.hasCredentials(env)) && adapter.simulate(env, '', '') !== null
}

export function simulate(agent: ConfiguredAgent, simulatorUrl: string, home: string): ConfiguredAgent {
  const env = agent.adapter.simulate(agent.env, simulatorUrl, join(home, 'simulated', agent.name))
  return env === null ? agent : { ...agent, env, simulated: true }
}

/**
 * Directories with the executables of packages that were installed together with Reprise: those of a checkout, or those
 * of the project that depends on it. The directory in which an agent works is not among them.
 */
export function bundledCommands(file = fileURLToPath(import.meta.url)): string[] {
  const root = join(dirname(file), '..', '..')
  const own = join(root, 'node_modules')
  return [own, ...enclosing(root).filter((dir) => basename(dir) === 'node_modules')]
    .map((modules) => join(modules, '.bin'))
    .filter((bin) => existsSync(bin))
}

/** The directories around a path, nearest first. */
function enclosing(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...enclosing(parent)]
}
