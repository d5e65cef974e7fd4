/**
 * From configuration to agents. Where the machine has no credentials for any of them, they talk to the simulator, with
 * a configuration folder of their own, so that a newcomer sees Reprise work and nothing of theirs is touched.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentAdapter, Env } from '../agents/adapter.ts'
import { claudeAdapter } from '../agents/claude/adapter.ts'
import { buildEnvironment } from '../agents/environment.ts'
import type { ConfiguredAgent } from '../agents/registry.ts'
import type { Config } from '../config/schema.ts'
import type { AdapterName } from '../contract/agent.ts'

const ADAPTERS: Readonly<Record<AdapterName, AgentAdapter>> = { claude: claudeAdapter }
export const ALL_ADAPTERS: readonly AgentAdapter[] = Object.values(ADAPTERS)

export type MachineEnv = Readonly<Record<string, string | undefined>>

/** In the order in which they are configured: the first is the default. `claude` is there in any case. */
export function configureAgents({ agents }: Config, machine: MachineEnv): ConfiguredAgent[] {
  const entries = Object.entries({ ...agents, claude: agents.claude ?? {} })
  return entries.map(([name, settings]) => {
    // That each has one was checked when the configuration was loaded.
    const adapter = ADAPTERS[settings.adapter ?? (name as AdapterName)]
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

/** An agent that can log in by itself, or is told where its model is, is left alone. */
export async function needsSimulator(agent: ConfiguredAgent): Promise<boolean> {
  return !(await agent.adapter.hasCredentials(agent.env)) && !agent.env.ANTHROPIC_BASE_URL
}

export function simulate(agent: ConfiguredAgent, simulatorUrl: string, home: string): ConfiguredAgent {
  const env: Env = {
    ...agent.env,
    ANTHROPIC_BASE_URL: simulatorUrl,
    ANTHROPIC_API_KEY: 'simulated',
    CLAUDE_CONFIG_DIR: join(home, 'simulated', agent.name),
    // A proxy must not see, or break, what goes to loopback.
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  }
  return { ...agent, env, simulated: true }
}

/** Executables that a checkout of Reprise brings along. */
export function bundledCommands(): string[] {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  const bin = join(root, 'node_modules', '.bin')
  return existsSync(bin) ? [bin] : []
}
