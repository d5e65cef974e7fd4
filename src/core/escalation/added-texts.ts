/** The texts that a tier adds to a prompt: its brief, the environment, and the handoff of the tiers before it. */
import { type AddedTexts, NOTHING_ADDED } from '../prompt/added-texts.ts'
import { aside } from '../prompt/parts.ts'

export interface TierTexts {
  /** The role of the agent, what it may do, and its purpose. */
  brief: string
  environment: string | null
  /** What the tiers before found, for a session that does not contain their work. */
  handoff: string | null
  /** The run continues the work of the tier before in its session, which knows the task. */
  takesOver: boolean
}

export function tierTexts({ brief, environment, handoff, takesOver }: TierTexts): AddedTexts {
  return {
    ...NOTHING_ADDED,
    brief: [aside(brief)],
    standing: environment ? [`<environment>\n${environment}\n</environment>`] : [],
    handoff: handoff && aside(handoff),
    takesOver,
  }
}
