/**
 * Composes the prompt of an attempt. It is derived from the resume decision only: a resumed session gets what is new; a
 * new session gets the past that the decision says it must carry.
 *
 * Text that Reprise adds is marked by <reprise> tags, so that neither the model nor a reader takes it for the user's
 * own words. It is also a separate text: the last text is the user's, exactly as it was written, because that is where
 * an agent looks for its own commands.
 *
 * The purpose of a run may add texts (see AddedTexts). Some are sent once per session, like the task itself. A session
 * that was compacted may have lost them, so they are sent again (reminder.ts): at once, if the agent asks for it, otherwise
 * with the next message.
 */
import type { LeftOut } from '../../contract/left-out.ts'
import type { ResumeDecision } from '../resume/decide.ts'
import { type AddedTexts, NOTHING_ADDED } from './added-texts.ts'
import { fitPast } from './fit.ts'
import { begunBefore, handoff, type Interruption, resumedAfter } from './interruption.ts'
import { aside, splitAsides } from './parts.ts'
import { type PastTurn, sectionOfStep, sectionOfTurn } from './past.ts'
import { saidTexts, standingTexts, taskText } from './reminder.ts'

export interface ComposeInput {
  decision: ResumeDecision
  prompt: string
  turns: readonly PastTurn[]
  /** Turns of others since the last turn of the session that would be resumed. */
  catchUp?: readonly PastTurn[]
  /** How many tokens of the past may be sent. The rest is left out. */
  room?: number
  interruption: Interruption | null
  /** Whether the session that would be resumed has the texts that are sent once. Not used for a new session. */
  standing?: Standing
  /** The task that a follow-up belongs to. It is repeated to a session that has been compacted. */
  task?: string | null
  /**
   * The messages that were sent to the agent while it worked on the task. They are repeated to a session that has been
   * compacted, and told to a new one.
   */
  said?: readonly string[]
  /** The session has just been compacted because this prompt did not fit. */
  roomMade?: boolean
  /** A note about changes in the work tree that the agent does not know of. */
  workTree?: string | null
  /** The texts that the purpose of the run adds. */
  added?: AddedTexts
}

/**
 * `known`: the session was given exactly these texts. `changed`: it was given other ones, or none. `compacted`: it was
 * given them and has been compacted since.
 */
export type Standing = 'known' | 'changed' | 'compacted'

/** The texts of a prompt, in order, and which parts of the past were left out. */
export interface Composed {
  texts: string[]
  /** The texts that Reprise has added; the others are the user's own. */
  added: string[]
  leftOut: LeftOut | null
}

/** The note about the work tree comes right before the user's text, because it matters for the next step. */
export function composePrompt({ workTree, ...input }: ComposeInput): Composed {
  const task = input.decision.kind === 'resume' ? resumedTask(input) : freshTask(input)
  const { prompt, leftOut } = task
  const added = [...task.added, ...(workTree ? [aside(workTree)] : [])]
  return { texts: [...added, ...(prompt === null ? [] : splitAsides(prompt))], added, leftOut }
}

/** The texts that Reprise adds, and the user's own text; null if the session has it already. */
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
  said = [],
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
    ...saidTexts(said, SAID_BEFORE),
  ]
  return { added, prompt, leftOut }
}

function resumedTask({
  prompt,
  interruption,
  roomMade = false,
  task,
  said = [],
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
        : [
            ...texts.brief,
            ...standingTexts(texts),
            ...(compacted ? [taskText(prompt), ...saidTexts(said)] : []),
          ]
    return { added: [...again, aside(resumedAfter(interruption))], prompt: null, leftOut: null }
  }
  const begun = interruption && !roomMade ? begunBefore(interruption) : null
  const missed = fitPast((roomMade ? [] : catchUp).map(sectionOfTurn), room)
  const added = [
    ...(roomMade ? [aside(ROOM_MADE)] : []),
    ...texts.brief,
    ...(standing === 'known' ? [] : standingTexts(texts)),
    ...(compacted && task ? [taskText(task)] : []),
    ...(compacted ? saidTexts(said) : []),
    ...(missed.texts.length > 0 ? [transcript(MEANWHILE, missed.texts, catchUp.length)] : []),
    ...(texts.closing !== null && !roomMade ? [texts.closing] : []),
    ...(begun === null ? [] : [aside(begun)]),
  ]
  const isKnown = texts.takesOver && !compacted && !roomMade
  return { added, prompt: isKnown ? null : prompt, leftOut: missed.leftOut }
}

const ROOM_MADE =
  'Your context was full and has been compacted. This is the message that did not fit; if you had begun with it, go on from there.'
const SAID_BEFORE =
  'During an earlier attempt at the task below, these messages were sent to the agent, oldest first. They apply to you as well.'
const SO_FAR = 'The conversation so far, for your information. Answer only the message after it.'
const MEANWHILE = 'Since your last turn, this was said in the conversation, for your information.'

/** `all`: how many turns there were before some were left out. */
function transcript(heading: string, texts: readonly string[], all: number): string {
  const left = all - texts.length
  const missing = `(${left} earlier ${left === 1 ? 'turn was' : 'turns were'} left out.)`
  return aside([heading, ...(left > 0 ? [missing] : []), ...texts].join('\n\n'))
}
