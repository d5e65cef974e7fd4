/**
 * The text an attempt is given. It follows from the resume decision and nothing else: a resumed session gets only
 * what is new; a fresh one gets the past its decision says it must carry.
 *
 * Text that Reprise adds is set apart in <reprise> tags, so that neither the model nor a reader takes it for the
 * user's own words. It is also a text of its own: the last text is the user's, exactly as it was written, because that
 * is where an agent looks for its commands (`/compact`).
 *
 * Some texts are said once per session: a conversation's instructions, a tier's brief and environment, the task itself.
 * When a session has been compacted it may have lost them, so they are said again with the next message.
 */
import type { MessageOrigin } from '../../contract/conversation.ts'
import type { ResumeDecision } from '../resume/decide.ts'
import { begunBefore, handoff, type Interruption, resumedAfter } from './interruption.ts'
import { aside, clip, quoted, splitAsides } from './parts.ts'

export interface PastTurn {
  prompt: string
  /** The agent's final words; null if the turn did not get that far. */
  answer: string | null
  /** How the turn ended, if not well. */
  ending?: string
  /** Who answered, where several agents take part. */
  agent?: string
  /** Where it was said, if not through Reprise. */
  origin?: MessageOrigin
}

export interface ComposeInput {
  decision: ResumeDecision
  prompt: string
  turns: readonly PastTurn[]
  interruption: Interruption | null
  /** Whether the session that would be resumed has the texts that are said once. Of a fresh one it does not matter. */
  standing?: Standing
  /** The task that a follow-up belongs to. It is repeated to a session that has been compacted. */
  task?: string | null
  /** The session has just been compacted because this prompt did not fit. */
  roomMade?: boolean
  chat?: ChatContext | null
  /** What was found in the work tree that the agent does not know of. */
  workTree?: string | null
  tier?: TierText | null
}

/**
 * `known`: the session was told these very texts. `changed`: it was told others, or none. `compacted`: it was told, and
 * has been compacted since.
 */
export type Standing = 'known' | 'changed' | 'compacted'

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
  instructions: string | null
  /** The session that would be resumed was told instructions once. They may have been others. */
  hadInstructions: boolean
  /** What others said since that session last took part. */
  catchUp: readonly PastTurn[]
  /** Its last turn came to no end: what it asked there may be open. */
  unfinished: boolean
}

/** What the agent must know about its files comes right before the user's text: it concerns what it does next. */
export function composePrompt({ workTree, ...input }: ComposeInput): string[] {
  const { added, prompt } = composeTask(input)
  const files = workTree ? [aside(workTree)] : []
  return [...added, ...files, ...(prompt === null ? [] : splitAsides(prompt))]
}

/** What Reprise adds, and the user's own text; null if the session has that already. */
interface Task {
  added: string[]
  prompt: string | null
}

function composeTask(input: Omit<ComposeInput, 'workTree'>): Task {
  if (input.decision.kind === 'resume') return resumedTask(input)
  const { decision, prompt, turns, interruption, chat, tier } = input
  const added: string[] = tier ? freshTier(tier) : []
  if (chat?.instructions) added.push(instructed(chat.instructions))
  if (decision.carry !== 'none' && turns.length > 0 && !tier?.handoff) added.push(transcript(SO_FAR, turns))
  if (decision.carry === 'handoff' && interruption) added.push(aside(handoff(interruption, decision.reason)))
  return { added, prompt }
}

function resumedTask(input: Omit<ComposeInput, 'workTree'>): Task {
  const { prompt, interruption, roomMade, chat, tier, task, standing = 'known' } = input
  const compacted = standing === 'compacted'
  if (interruption?.promptRecorded && !roomMade) {
    const again =
      standing === 'known' ? [] : [...standingTexts(input), ...(compacted ? [tasked(prompt)] : [])]
    return { added: [...again, aside(resumedAfter(interruption))], prompt: null }
  }
  const begun = interruption && !roomMade ? begunBefore(interruption) : null
  const before = roomMade ? [aside(ROOM_MADE)] : []
  const after = begun === null ? [] : [aside(begun)]
  if (tier) {
    const texts = standing === 'known' ? [aside(tier.brief)] : standingTexts(input)
    const added = [...before, ...texts, ...after]
    // The session knows the task of the tier before, unless it has been compacted.
    return { added, prompt: tier.takesOver && !compacted && !roomMade ? null : prompt }
  }
  const added = [
    ...before,
    ...(standing === 'known' ? [] : standingTexts(input)),
    ...(compacted && task ? [tasked(task)] : []),
    ...(chat && !roomMade ? resumedChat(chat) : []),
    ...after,
  ]
  return { added, prompt }
}

/** For a session that has been compacted: what it was told once, and its task. */
export function composeReminder({ tier, task }: { tier: TierText | null; task: string }): string[] {
  return [...standingTexts({ tier }), tasked(task)]
}

/** The texts that are said once, as they are now. */
function standingTexts({ chat, tier }: Pick<ComposeInput, 'chat' | 'tier'>): string[] {
  if (tier) return [aside(tier.brief), ...described(tier)]
  if (chat?.instructions) return [instructed(chat.instructions)]
  return chat?.hadInstructions ? [aside('The instructions given earlier no longer apply.')] : []
}

const described = ({ environment }: TierText) =>
  environment ? [`<environment>\n${environment}\n</environment>`] : []

const freshTier = (tier: TierText) => [
  aside(tier.brief),
  ...described(tier),
  ...(tier.handoff ? [aside(tier.handoff)] : []),
]

const tasked = (prompt: string) => aside(`${TASK}\n\n<task>\n${quoted(prompt)}\n</task>`)

const TASK =
  'Your context has been compacted since you were given your task. This is the task as it was given.'
const ROOM_MADE =
  'Your context was full and has been compacted. This is the message that did not fit; if you had begun with it, go on from there.'
const SO_FAR = 'The conversation so far, for your information. Answer only the message after it.'
const MEANWHILE = 'Since your last turn, this was said in the conversation, for your information.'
/** A resumed model tends to answer what it asked itself, or to say that it is done because it was. */
const ATTEND = 'Earlier questions in this conversation have been answered. Attend to the message below.'
const UNFINISHED =
  'Your last turn in this conversation was not finished. Attend to the message below; if you had asked something, it may be the answer.'

function resumedChat({ catchUp, unfinished }: ChatContext): string[] {
  return [
    ...(catchUp.length > 0 ? [transcript(MEANWHILE, catchUp)] : []),
    aside(unfinished ? UNFINISHED : ATTEND),
  ]
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

const SAID_ELSEWHERE = {
  outside: 'The following was said in your session outside Reprise.',
  'outside-branch':
    'The following was said outside Reprise, on another branch of your session: what is above it here may not have been known there.',
} as const

function turnText(turn: PastTurn, max: number): string {
  return [
    turn.origin && turn.origin !== 'reprise' ? `(${SAID_ELSEWHERE[turn.origin]})` : '',
    turn.prompt === '' ? '' : `<user>\n${quoted(clip(turn.prompt, max))}\n</user>`,
    turn.answer === null
      ? ''
      : `<assistant${turn.agent ? ` agent="${turn.agent}"` : ''}>\n${quoted(clip(turn.answer, max))}\n</assistant>`,
    turn.ending ? `(${turn.ending})` : '',
  ]
    .filter(Boolean)
    .join('\n')
}
