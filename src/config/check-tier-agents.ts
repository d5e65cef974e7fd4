/** Whether what tiers set by agent is set for agents that there are, and with tools that those have. */
import { ADAPTERS } from '../contract/agent.ts'
import { type AgentName, isByAgent } from '../core/escalation/tier.ts'
import { agentNames } from './agent-names.ts'
import { unknownTool } from './known-tools.ts'
import { nearestWord } from './nearest-word.ts'
import { type TierConfig, tierEntries } from './policy-schema.ts'
import type { SettingPath } from './problem.ts'
import type { Config } from './schema.ts'

const BY_AGENT = ['model', 'tools', 'deniedTools', 'contextWindow'] as const
const TOOLS = ['tools', 'deniedTools'] as const

type Problem = { path: SettingPath; message: string }

export function checkTierAgents(config: Config): Problem[] {
  const agents = agentNames(config)
  return tierEntries(config.tiers).flatMap(([number, tier]) => [
    ...BY_AGENT.flatMap((key) => unknownAgents(tier[key], agents).map(at('tiers', number, key))),
    ...TOOLS.flatMap((key) => unknownTools(tier[key], agents).map(at('tiers', number, key))),
  ])
}

const at =
  (...parent: string[]) =>
  ({ path, message }: Problem): Problem => ({ path: [...parent, ...path], message })

function unknownAgents(value: TierConfig[(typeof BY_AGENT)[number]], agents: AgentName[]): Problem[] {
  if (!isByAgent<string | number | string[]>(value)) return []
  const known = [...new Set([...agents.map(({ name }) => name), ...ADAPTERS])]
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearestWord(name, known)
      const hint = near ? `did you mean ${near}?` : `known: ${known.join(', ')}`
      return { path: [name], message: `there is no agent ${JSON.stringify(name)}; ${hint}` }
    })
}

/** Only of agents whose tools are known. */
function unknownTools(value: TierConfig['tools'], agents: AgentName[]): Problem[] {
  if (!isByAgent(value)) return []
  return Object.entries(value).flatMap(([name, tools]) => {
    const adapter = agents.find((agent) => agent.name === name)?.adapter ?? name
    if (adapter !== 'claude') return []
    return tools.flatMap((tool, index) => {
      const message = unknownTool(tool)
      return message === null ? [] : [{ path: [name, index], message }]
    })
  })
}
