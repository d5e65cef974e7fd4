/**
 * What was said in one of our sessions by somebody else: by hand, with the agent's own program, or by another daemon. It is found
 * in the agent's own file before the session is resumed.
 */
import type { ContentBlock } from '../../contract/conversation.ts'

export interface OutsideTurn {
  /** The agent's own id of the question, by which it is taken in once. */
  id: string
  text: string
  answer: readonly ContentBlock[]
  saidAt: Date | null
  /**
   * Our history leads through it: an agent that resumes the session knows both. Otherwise it was said on another
   * branch, which left our history at an earlier point, or was left behind by it.
   */
  inSession: boolean
}

/** For the run's events: what was found, in words. */
export function describeOutside(turns: readonly OutsideTurn[]): string | null {
  const [known, branched] = [
    turns.filter((t) => t.inSession).length,
    turns.filter((t) => !t.inSession).length,
  ]
  const parts = [
    ...(known > 0 ? [`${count(known)} said in this session outside Reprise, and taken in`] : []),
    ...(branched > 0
      ? [
          `${count(branched)} said outside Reprise on another branch of this session, and taken in for information`,
        ]
      : []),
  ]
  return parts.length === 0 ? null : `${parts.join('; ')}.`
}

const count = (turns: number) => (turns === 1 ? '1 turn was' : `${turns} turns were`)
