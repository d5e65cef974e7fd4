/**
 * The text an attempt is given. It follows from the resume decision and nothing else: a resumed session gets only
 * what is new; a fresh one gets the past its decision says it must carry.
 *
 * Text that Reprise adds is set apart in <reprise> tags, so that neither the model nor a reader takes it for the
 * user's own words.
 */
import type { ResumeDecision } from '../resume/decide.ts'
import { begunBefore, handoff, type Interruption, resumedAfter } from './interruption.ts'
import { aside, clip, quoted } from './parts.ts'

export interface PastTurn {
  prompt: string
  /** The agent's final words; null if the turn did not get that far. */
  answer: string | null
  /** How the turn ended, if not well. */
  ending?: string
  /** Who answered, where several agents take part. */
  agent?: string
}

export interface ComposeInput {
  decision: ResumeDecision
  prompt: string
  turns: readonly PastTurn[]
  interruption: Interruption | null
  /** The session has just been compacted because this prompt did not fit. */
  roomMade?: boolean
  chat?: ChatContext | null
  /** What was found in the work tree that the agent does not know of. */
  workTree?: string | null
  tier?: TierText | null
}

/** What a run at a tier is told besides its task. */
export interface TierText {
  /** Who it is now, what it may do, and what for. */
  brief: string
  environment: string | null
  /** Of the tiers before, for a session that knows nothing of them. */
  handoff: string | null
  /** It goes on with what a tier before began: the session knows the task. */
  takesOver: boolean
}

/** What a conversation adds. */
export interface ChatContext {
  /** Its instructions, and whether the session that would be resumed has them as they are now. */
  instructions: string | null
  instructionsKnown: boolean
  /** What others said since that session last took part. */
  catchUp: readonly PastTurn[]
  /** Its last turn came to no end: what it asked there may be open. */
  unfinished: boolean
}

/** What the agent must know about its files comes last: it concerns what it does next. */
export function composePrompt(input: ComposeInput): string {
  const text = composeTask(input)
  return input.workTree ? `${text}\n\n${aside(input.workTree)}` : text
}

function composeTask({ decision, prompt, turns, interruption, roomMade, chat, tier }: ComposeInput): string {
  if (decision.kind === 'resume') {
    if (roomMade) return `${aside(ROOM_MADE)}\n\n${tier ? resumedTier(tier, prompt) : prompt}`
    if (interruption?.promptRecorded) return aside(resumedAfter(interruption))
    const begun = interruption && begunBefore(interruption)
    const text = tier ? resumedTier(tier, prompt) : [...(chat ? resumedChat(chat) : []), prompt].join('\n\n')
    return begun ? `${text}\n\n${aside(begun)}` : text
  }
  const parts: string[] = tier ? freshTier(tier) : []
  if (chat?.instructions) parts.push(instructed(chat.instructions))
  if (decision.carry !== 'none' && turns.length > 0 && !tier?.handoff) parts.push(transcript(SO_FAR, turns))
  if (decision.carry === 'handoff' && interruption) parts.push(aside(handoff(interruption)))
  return [...parts, prompt].join('\n\n')
}

/** The environment was described when the session began. */
const resumedTier = ({ brief, takesOver }: TierText, prompt: string) =>
  takesOver ? aside(brief) : `${aside(brief)}\n\n${prompt}`

const freshTier = ({ brief, environment, handoff }: TierText) => [
  aside(brief),
  ...(environment ? [`<environment>\n${environment}\n</environment>`] : []),
  ...(handoff ? [aside(handoff)] : []),
]

const ROOM_MADE =
  'Your context was full and has been compacted. This is the message that did not fit; if you had begun with it, go on from there.'
const SO_FAR = 'The conversation so far, for your information. Answer only the message after it.'
const MEANWHILE = 'Since your last turn, this was said in the conversation, for your information.'
/** A resumed model tends to answer what it asked itself, or to say that it is done because it was. */
const ATTEND = 'Earlier questions in this conversation have been answered. Attend to the message below.'
const UNFINISHED =
  'Your last turn in this conversation was not finished. Attend to the message below; if you had asked something, it may be the answer.'

function resumedChat(chat: ChatContext): string[] {
  const parts: string[] = []
  if (!chat.instructionsKnown) {
    parts.push(
      chat.instructions
        ? instructed(chat.instructions)
        : aside('The instructions given earlier no longer apply.'),
    )
  }
  if (chat.catchUp.length > 0) parts.push(transcript(MEANWHILE, chat.catchUp))
  return [...parts, aside(chat.unfinished ? UNFINISHED : ATTEND)]
}

const instructed = (text: string) => `<instructions>\n${text}\n</instructions>`

/** About 100,000 tokens: a history that fills the window of the model it is for helps nobody. */
const TRANSCRIPT_CHARS = 400_000
/** Of one message, where not all fit: one that is huge must not be all that is told. */
const MESSAGE_CHARS = 100_000

/** If not all fit, huge messages are shortened and the newest turns kept; it is said what was left out. */
function transcript(heading: string, turns: readonly PastTurn[]): string {
  const body: string[] = []
  const all = turns.reduce((sum, { prompt, answer }) => sum + prompt.length + (answer?.length ?? 0), 0)
  const max = all > TRANSCRIPT_CHARS ? MESSAGE_CHARS : TRANSCRIPT_CHARS
  let room = TRANSCRIPT_CHARS
  for (const turn of turns.toReversed()) {
    const text = turnText(turn, max)
    if (text.length > room && body.length > 0) break
    body.unshift(clip(text, room))
    room -= text.length
  }
  const left = turns.length - body.length
  if (left > 0) body.unshift(`(${left} earlier ${left === 1 ? 'turn was' : 'turns were'} left out.)`)
  return aside(`${heading}\n\n${body.join('\n\n')}`)
}

function turnText(turn: PastTurn, max: number): string {
  return [
    turn.prompt === '' ? '' : `<user>\n${quoted(clip(turn.prompt, max))}\n</user>`,
    turn.answer === null
      ? ''
      : `<assistant${turn.agent ? ` agent="${turn.agent}"` : ''}>\n${quoted(clip(turn.answer, max))}\n</assistant>`,
    turn.ending ? `(${turn.ending})` : '',
  ]
    .filter(Boolean)
    .join('\n')
}
