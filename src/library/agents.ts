/**
 * Creates the agents from the configuration. An agent without credentials on this machine uses the simulator, with a
 * configuration folder of its own, so that a newcomer can try Reprise without changing their own agent's files.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Agent executables in the dependencies of a checkout of Reprise. */
export function bundledCommands(): string[] {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  const bin = join(root, 'node_modules', '.bin')
  return existsSync(bin) ? [bin] : []
}
