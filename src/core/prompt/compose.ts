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
import type { LeftOut } from '../../contract/left-out.ts'
import type { ResumeDecision } from '../resume/decide.ts'
import { fitPast } from './fit.ts'
import { begunBefore, handoff, type Interruption, resumedAfter } from './interruption.ts'
import { aside, quoted, splitAsides } from './parts.ts'
import { type PastTurn, sectionOfStep, sectionOfTurn } from './past.ts'

export interface ComposeInput {
  decision: ResumeDecision
  prompt: string
  turns: readonly PastTurn[]
  /** How many tokens of the past may be sent; what does not fit is left out. */
  room?: number
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

/** The texts of a prompt, in order, and what of the past is not in them. */
export interface Composed {
  texts: string[]
  leftOut: LeftOut | null
}

/** What the agent must know about its files comes right before the user's text: it concerns what it does next. */
export function composePrompt({ workTree, ...input }: ComposeInput): Composed {
  const { added, prompt, leftOut } = input.decision.kind === 'resume' ? resumedTask(input) : freshTask(input)
  const files = workTree ? [aside(workTree)] : []
  return { texts: [...added, ...files, ...(prompt === null ? [] : splitAsides(prompt))], leftOut }
}

/** What Reprise adds, and the user's own text; null if the session has that already. */
interface Task {
  added: string[]
  prompt: string | null
  leftOut: LeftOut | null
}

function freshTask({
  decision,
  prompt,
  turns,
  room,
  interruption,
  chat,
  tier,
}: Omit<ComposeInput, 'workTree'>): Task {
  const told = decision.carry !== 'none' && !tier?.handoff ? turns.map(sectionOfTurn) : []
  const unfinished = decision.carry === 'handoff' ? interruption : null
  const work = (unfinished?.work ?? []).map(sectionOfStep)
  const { texts, leftOut } = fitPast([...told, ...work], room ?? Number.POSITIVE_INFINITY)
  const steps = texts.slice(texts.length - Math.min(work.length, texts.length))
  const added = [
    ...(tier ? freshTier(tier) : []),
    ...(chat?.instructions ? [instructed(chat.instructions)] : []),
    ...(told.length > 0
      ? [transcript(SO_FAR, texts.slice(0, texts.length - steps.length), told.length)]
      : []),
    ...(unfinished && decision.kind === 'fresh'
      ? [aside(handoff(unfinished, decision.reason, { steps, all: work.length }))]
      : []),
  ]
  return { added, prompt, leftOut }
}

function resumedTask(input: Omit<ComposeInput, 'workTree'>): Task {
  const { prompt, interruption, roomMade, chat, tier, task, standing = 'known' } = input
  const compacted = standing === 'compacted'
  if (interruption?.promptRecorded && !roomMade) {
    const again =
      standing === 'known' ? [] : [...standingTexts(input), ...(compacted ? [tasked(prompt)] : [])]
    return { added: [...again, aside(resumedAfter(interruption))], prompt: null, leftOut: null }
  }
  const begun = interruption && !roomMade ? begunBefore(interruption) : null
  const before = roomMade ? [aside(ROOM_MADE)] : []
  const after = begun === null ? [] : [aside(begun)]
  if (tier) {
    const texts = standing === 'known' ? [aside(tier.brief)] : standingTexts(input)
    const added = [...before, ...texts, ...after]
    // The session knows the task of the tier before, unless it has been compacted.
    return { added, prompt: tier.takesOver && !compacted && !roomMade ? null : prompt, leftOut: null }
  }
  const missed = fitPast(
    (chat && !roomMade ? chat.catchUp : []).map(sectionOfTurn),
    input.room ?? Number.POSITIVE_INFINITY,
  )
  const added = [
    ...before,
    ...(standing === 'known' ? [] : standingTexts(input)),
    ...(compacted && task ? [tasked(task)] : []),
    ...(missed.texts.length > 0 ? [transcript(MEANWHILE, missed.texts, chat?.catchUp.length ?? 0)] : []),
    ...(chat && !roomMade ? [aside(chat.unfinished ? UNFINISHED : ATTEND)] : []),
    ...after,
  ]
  return { added, prompt, leftOut: missed.leftOut }
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

const instructed = (text: string) => `<instructions>\n${text}\n</instructions>`

/** `all`: how many turns there were. */
function transcript(heading: string, texts: readonly string[], all: number): string {
  const left = all - texts.length
  const missing = `(${left} earlier ${left === 1 ? 'turn was' : 'turns were'} left out.)`
  return aside([heading, ...(left > 0 ? [missing] : []), ...texts].join('\n\n'))
}
