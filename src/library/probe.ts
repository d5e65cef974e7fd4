/** Facts about agents, processes and the sandbox for `doctor`, which works without a daemon. */
import { AgentRegistry } from '../agents/registry.ts'
import { loadConfig } from '../config/load.ts'
import type { Agent } from '../contract/agent.ts'
import type { SandboxStatus } from '../contract/sandbox.ts'
import { describeSandbox } from '../engine/enforce/describe-sandbox.ts'
import { detectSandbox, type WantedSandbox } from '../process/sandbox/detect.ts'
import { bundledCommands, configureAgents, type MachineEnv, needsSimulator } from './agents.ts'

export async function probeAgents(input: { home: string; cwd: string; env: MachineEnv }): Promise<Agent[]> {
  const configured = configureAgents(loadConfig(input).config, input.env)
  const agents = await Promise.all(
    configured.map(async (agent) => ({ ...agent, simulated: await needsSimulator(agent) })),
  )
  const noCache = { get: async () => null, put: async () => {} }
  return new AgentRegistry(agents, noCache, bundledCommands()).describe()
}

export const probeSandbox = async (env: MachineEnv, wanted: WantedSandbox): Promise<SandboxStatus> =>
  describeSandbox(await detectSandbox({ path: env.PATH ?? '', wanted }))

export { canMarkByLimit } from '../process/probe-limit.ts'
