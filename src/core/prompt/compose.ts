/**
 * The text an attempt is given. It follows from the resume decision and nothing else: a resumed session gets only
 * what is new; a fresh one gets the past its decision says it must carry.
 *
 * Text that Reprise adds is set apart in <reprise> tags, so that neither the model nor a reader takes it for the
 * user's own words. It is also a text of its own: the last text is the user's, exactly as it was written, because that
 * is where an agent looks for its commands (`/compact`).
 *
 * What a run is for may add texts (see AddedTexts). Some are said once per session, as is the task itself. When a session has been compacted it may have lost them, so they are said again with the next message.
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
  /** What others said since the session that would be resumed last took part. */
  catchUp?: readonly PastTurn[]
  /** How many tokens of the past may be sent; what does not fit is left out. */
  room?: number
  interruption: Interruption | null
  /** Whether the session that would be resumed has the texts that are said once. It does not matter for a fresh one. */
  standing?: Standing
  /** The task that a follow-up belongs to. It is repeated to a session that has been compacted. */
  task?: string | null
  /** The session has just been compacted because this prompt did not fit. */
  roomMade?: boolean
  /** What was found in the work tree that the agent does not know of. */
  workTree?: string | null
  /** What the purpose of the run adds. */
  added?: AddedTexts
}

/**
 * `known`: the session was told these very texts. `changed`: it was told others, or none. `compacted`: it was told, and
 * has been compacted since.
 */
export type Standing = 'known' | 'changed' | 'compacted'

/** What the purpose of a run adds to its text. Every entry is complete: nothing is wrapped around it. */
export interface AddedTexts {
  /** Said with every prompt. */
  brief: readonly string[]
  /** Said once per session, and again after a compaction. */
  standing: readonly string[]
  /** Said in place of `standing` where that has become empty. */
  withdrawn: readonly string[]
  /** What came before, for a session that knows nothing of it. It replaces the transcript. */
  handoff: string | null
  /** The session that would be resumed knows the task: the prompt is not repeated to it. */
  takesOver: boolean
  /** Said to a resumed session right before the prompt. */
  closing: string | null
}

export const NOTHING_ADDED: AddedTexts = {
  brief: [],
  standing: [],
  withdrawn: [],
  handoff: null,
  takesOver: false,
  closing: null,
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
  added: { brief, standing, handoff: before } = NOTHING_ADDED,
}: Omit<ComposeInput, 'workTree'>): Task {
  const told = decision.carry !== 'none' && before === null ? turns.map(sectionOfTurn) : []
  const unfinished = decision.carry === 'handoff' ? interruption : null
  const work = (unfinished?.work ?? []).map(sectionOfStep)
  const { texts, leftOut } = fitPast([...told, ...work], room ?? Number.POSITIVE_INFINITY)
  const steps = texts.slice(texts.length - Math.min(work.length, texts.length))
  const added = [
    ...brief,
    ...standing,
    ...(before === null ? [] : [before]),
    ...(told.length > 0
      ? [transcript(SO_FAR, texts.slice(0, texts.length - steps.length), told.length)]
      : []),
    ...(unfinished && decision.kind === 'fresh'
      ? [aside(handoff(unfinished, decision.reason, { steps, all: work.length }))]
      : []),
  ]
  return { added, prompt, leftOut }
}

function resumedTask({
  prompt,
  interruption,
  roomMade = false,
  task,
  standing = 'known',
  catchUp = [],
  room = Number.POSITIVE_INFINITY,
  added: texts = NOTHING_ADDED,
}: Omit<ComposeInput, 'workTree'>): Task {
  const compacted = standing === 'compacted'
  if (interruption?.promptRecorded && !roomMade) {
    const again =
      standing === 'known'
        ? []
        : [...texts.brief, ...standingOf(texts), ...(compacted ? [tasked(prompt)] : [])]
    return { added: [...again, aside(resumedAfter(interruption))], prompt: null, leftOut: null }
  }
  const begun = interruption && !roomMade ? begunBefore(interruption) : null
  const missed = fitPast((roomMade ? [] : catchUp).map(sectionOfTurn), room)
  const added = [
    ...(roomMade ? [aside(ROOM_MADE)] : []),
    ...texts.brief,
    ...(standing === 'known' ? [] : standingOf(texts)),
    ...(compacted && task ? [tasked(task)] : []),
    ...(missed.texts.length > 0 ? [transcript(MEANWHILE, missed.texts, catchUp.length)] : []),
    ...(texts.closing !== null && !roomMade ? [texts.closing] : []),
    ...(begun === null ? [] : [aside(begun)]),
  ]
  const isKnown = texts.takesOver && !compacted && !roomMade
  return { added, prompt: isKnown ? null : prompt, leftOut: missed.leftOut }
}

/** For a session that has been compacted: what it was told once, and its task. */
export function composeReminder(texts: AddedTexts, task: string): string[] {
  return [...texts.brief, ...standingOf(texts), tasked(task)]
}

const standingOf = ({ standing, withdrawn }: AddedTexts) => (standing.length > 0 ? standing : withdrawn)

const tasked = (prompt: string) => aside(`${TASK}\n\n<task>\n${quoted(prompt)}\n</task>`)

const TASK =
  'Your context has been compacted since you were given your task. This is the task as it was given.'
const ROOM_MADE =
  'Your context was full and has been compacted. This is the message that did not fit; if you had begun with it, go on from there.'
const SO_FAR = 'The conversation so far, for your information. Answer only the message after it.'
const MEANWHILE = 'Since your last turn, this was said in the conversation, for your information.'
/** `all`: how many turns there were. */
function transcript(heading: string, texts: readonly string[], all: number): string {
  const left = all - texts.length
  const missing = `(${left} earlier ${left === 1 ? 'turn was' : 'turns were'} left out.)`
  return aside([heading, ...(left > 0 ? [missing] : []), ...texts].join('\n\n'))
}
