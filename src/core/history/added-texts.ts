/** What a conversation adds to the text of a turn: its instructions, and how the message relates to the turns before. */
import { type AddedTexts, NOTHING_ADDED } from '../prompt/compose.ts'
import { aside } from '../prompt/parts.ts'

export interface ConversationTexts {
  instructions: string | null
  /** The session that would be resumed was told instructions once. They may have been others. */
  hadInstructions: boolean
  /** The last turn of the session came to no end: what the agent asked there may be open. */
  unfinished: boolean
}

export function conversationTexts({
  instructions,
  hadInstructions,
  unfinished,
}: ConversationTexts): AddedTexts {
  return {
    ...NOTHING_ADDED,
    standing: instructions ? [`<instructions>\n${instructions}\n</instructions>`] : [],
    withdrawn: hadInstructions ? [aside('The instructions given earlier no longer apply.')] : [],
    closing: aside(unfinished ? UNFINISHED : ATTEND),
  }
}

/** A resumed model tends to answer what it asked itself, or to say that it is done because it was. */
const ATTEND = 'Earlier questions in this conversation have been answered. Attend to the message below.'
const UNFINISHED =
  'Your last turn in this conversation was not finished. Attend to the message below; if you had asked something, it may be the answer.'
