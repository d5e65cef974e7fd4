/** What a tier adds to the text of a run: its brief, the environment, and what the tiers before it found. */
import { type AddedTexts, NOTHING_ADDED } from '../prompt/compose.ts'
import { aside } from '../prompt/parts.ts'

export interface TierTexts {
  /** Who the agent is now, what it may do, and what for. */
  brief: string
  environment: string | null
  /** What the tiers before found, for a session that knows nothing of them. */
  handoff: string | null
  /** The run continues what a tier before began: the session knows the task. */
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
