/** A tier as it is set up. */
import type { TierRules } from '../policy/policy.ts'

export interface Tier extends TierRules {
  number: number
  model: string
  /** The text of its prompt file. */
  prompt: string | null
  /** Whether a person must agree before it starts. */
  approval: boolean
  budgetUsd: number | null
  maxDurationMs: number | null
  /** Where the agent does not say, or says it wrong. */
  contextWindow: number | null
}
