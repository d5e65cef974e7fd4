/**
 * A tier as it is configured (`TierSettings`), and as it applies to one agent (`Tier`). Models, tools and context
 * windows differ between vendors, so each of them may be set for all agents or per agent.
 */
import type { TierRules } from '../shell/tool-rules.ts'

export interface Tier extends TierRules {
  number: number
  /** null: the agent's default model. */
  model: string | null
  /** The text of its prompt file. */
  prompt: string | null
  /** Whether a person must approve the tier before it starts. */
  approval: boolean
  budgetUsd: number | null
  maxDurationMs: number | null
  /** Overrides the context window that the agent reports; null: no override. */
  contextWindow: number | null
  /** Paths besides the usual ones; relative ones start at the work directory, `~` is the home directory. */
  files: { write: readonly string[]; hidden: readonly string[] }
  network: 'open' | 'none'
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

/** The value for an agent; its name takes precedence over the name of its adapter. undefined: nothing is set for it. */
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

/** An agent for which no tools are configured gets no tools. */
export function tierFor(settings: TierSettings, agent: AgentName): Tier {
  return {
    ...settings,
    model: forAgent(settings.model, agent) ?? null,
    tools: forAgent(settings.tools, agent) ?? [],
    deniedTools: forAgent(settings.deniedTools, agent),
    contextWindow: forAgent(settings.contextWindow, agent) ?? null,
  }
}
