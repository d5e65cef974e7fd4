/**
 * Turns that were added to a session outside Reprise: by hand with the agent's own program, or by another daemon. They
 * are found in the agent's transcript before the session is resumed, and imported into the history.
 */
import type { ContentBlock } from '../../contract/conversation.ts'

export interface OutsideTurn {
  /** The agent's own id of the question. It ensures that the turn is imported once. */
  id: string
  text: string
  answer: readonly ContentBlock[]
  saidAt: Date | null
  /**
   * The turn is on the branch of the session that Reprise resumes, so the agent knows it. Otherwise it is on another
   * branch, which the agent does not know.
   */
  inSession: boolean
}

/** A note for the run's events about the turns that were found; null if there are none. */
export function describeOutside(turns: readonly OutsideTurn[]): string | null {
  const [known, branched] = [
    turns.filter((t) => t.inSession).length,
    turns.filter((t) => !t.inSession).length,
  ]
  const parts = [
    ...(known > 0 ? [`${count(known)} said in this session outside Reprise, and imported`] : []),
    ...(branched > 0
      ? [
          `${count(branched)} said outside Reprise on another branch of this session, and imported for information`,
        ]
      : []),
  ]
  return parts.length === 0 ? null : `${parts.join('; ')}.`
}

const count = (turns: number) => (turns === 1 ? '1 turn was' : `${turns} turns were`)
