/** The agents that a configuration has, in order: the first is the default. `claude` is there in any case. */
import type { AdapterName } from '../contract/agent.ts'
import type { AgentName } from '../core/escalation/tier.ts'
import type { Config } from './schema.ts'

const ALWAYS: AdapterName = 'claude'

export function agentNames({ agents }: Pick<Config, 'agents'>): AgentName[] {
  const all = { ...agents, [ALWAYS]: agents[ALWAYS] ?? {} }
  return Object.entries(all).map(([name, { adapter = name }]) => ({ name, adapter }))
}
