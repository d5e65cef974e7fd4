/**
 * The texts that a conversation adds to a prompt: its instructions, and how the message relates to the turns before.
 */
import { type AddedTexts, NOTHING_ADDED } from '../prompt/added-texts.ts'
import { aside } from '../prompt/parts.ts'

export interface ConversationTexts {
  instructions: string | null
  /** The session that would be resumed was given instructions, possibly different ones. */
  hadInstructions: boolean
  /** The last turn of the session did not finish, so a question of the agent may still be open. */
  unfinished: boolean
  /** The agent's memory was cleared in the last turn of the session. */
  cleared: boolean
}

export function conversationTexts({
  instructions,
  hadInstructions,
  unfinished,
  cleared,
}: ConversationTexts): AddedTexts {
  return {
    ...NOTHING_ADDED,
    standing: instructions ? [`<instructions>\n${instructions}\n</instructions>`] : [],
    withdrawn: hadInstructions ? [aside('The instructions given earlier no longer apply.')] : [],
    closing: aside(cleared ? CLEARED : unfinished ? UNFINISHED : ATTEND),
  }
}

/** Without this text, a resumed model tends to answer its own earlier question, or to repeat that it is done. */
const ATTEND = 'Earlier questions in this conversation have been answered. Attend to the message below.'
const UNFINISHED =
  'Your last turn in this conversation was not finished. Attend to the message below; if you had asked something, it may be the answer.'
const CLEARED =
  'Your memory of this conversation was cleared by the user, so you do not know what was said before. Attend to the message below.'
