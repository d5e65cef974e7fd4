/**
 * A tier as it is set up, and as it is for one agent. Models, tools and windows are a vendor's, so each of them may be
 * set for all agents or by agent.
 */
import type { TierRules } from '../policy/policy.ts'

export interface Tier extends TierRules {
  number: number
  /** null: the agent's own choice. */
  model: string | null
  /** The text of its prompt file. */
  prompt: string | null
  /** Whether a person must agree before it starts. */
  approval: boolean
  budgetUsd: number | null
  maxDurationMs: number | null
  /** Where the agent does not say, or says it wrong. */
  contextWindow: number | null
}

/** One value for all agents, or a value by the name of an agent or of its adapter. */
export type PerAgent<T extends Setting> = T | { readonly [agent: string]: T }
type Setting = string | number | readonly string[]

export interface TierSettings extends Omit<Tier, 'model' | 'tools' | 'deniedTools' | 'contextWindow'> {
  model: PerAgent<string> | undefined
  tools: PerAgent<readonly string[]> | undefined
  deniedTools: PerAgent<readonly string[]> | undefined
  contextWindow: PerAgent<number> | undefined
}

export interface AgentName {
  name: string
  adapter: string
}

/** undefined: nothing is set for this agent. Its own name counts before that of its adapter. */
export function forAgent<T extends Setting>(
  value: PerAgent<T> | undefined,
  { name, adapter }: AgentName,
): T | undefined {
  if (!isByAgent(value)) return value
  return [name, adapter].filter((key) => Object.hasOwn(value, key)).map((key) => value[key])[0]
}

export const isByAgent = <T extends Setting>(
  value: PerAgent<T> | undefined,
): value is { readonly [agent: string]: T } => typeof value === 'object' && !Array.isArray(value)

/** An agent for which no tools are set has none. */
export function tierFor(settings: TierSettings, agent: AgentName): Tier {
  return {
    ...settings,
    model: forAgent(settings.model, agent) ?? null,
    tools: forAgent(settings.tools, agent) ?? [],
    deniedTools: forAgent(settings.deniedTools, agent),
    contextWindow: forAgent(settings.contextWindow, agent) ?? null,
  }
}
