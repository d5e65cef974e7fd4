/**
 * The text that a session is given again after it was compacted: the texts that are sent once, the task, and the messages that
 * were sent to the agent while it worked on it. A compaction replaces the history by a summary, which may lack any of them. Without
 * the messages, the agent would be told the task as if nobody had corrected it.
 */
import type { AddedTexts } from './added-texts.ts'
import { excerpt } from './fit.ts'
import { aside, quoted } from './parts.ts'

const TASK =
  'Your context has been compacted since you were given your task. This is the task as it was given.'
const LATEST =
  'Your context has been compacted. This is the message that you are working on, as it was given; go on from where you were.'

const SAID =
  'While you worked on this task, these messages were sent to you, oldest first. They apply as they did before.'

/** The texts that are sent once per session, or the text that they no longer apply. */
export const standingTexts = ({ standing, withdrawn }: AddedTexts) =>
  standing.length > 0 ? standing : withdrawn

export const taskText = (task: string) => aside(`${TASK}\n\n<task>\n${quoted(task)}\n</task>`)

const latestText = (prompt: string) => aside(`${LATEST}\n\n<task>\n${quoted(prompt)}\n</task>`)

/** `said`: the messages, each with its sender. */
export const saidTexts = (said: readonly string[], heading = SAID) =>
  said.length === 0 ? [] : [saidText(said.join('\n\n'), heading)]

const saidText = (messages: string, heading = SAID) => aside(`${heading}\n\n${quoted(messages)}`)

/** For a prompt that follows right after it. */
export function composeReminder(texts: AddedTexts, task: string, said: readonly string[]): string[] {
  return [...texts.brief, ...standingTexts(texts), taskText(task), ...saidTexts(said)]
}

export interface Reminder {
  texts: string[]
  /** Nothing was shortened, so that the session knows everything again. */
  whole: boolean
}

/**
 * For an agent that goes on with its turn: the task, the message that it is working on if that is another one, and the
 * messages that were sent to it meanwhile. If there is not enough room, they are shortened to their beginning and their end;
 * the texts that are sent once are not.
 */
export function remindMidTurn(
  added: AddedTexts,
  { task, prompt, said }: { task: string; prompt: string; said: readonly string[] },
  maxChars: number,
): Reminder {
  const once = [...added.brief, ...standingTexts(added)]
  const compose = (chars: number) => [
    ...once,
    ...(task === prompt ? [] : [taskText(excerpt(task, chars).text)]),
    latestText(excerpt(prompt, chars).text),
    ...(said.length === 0 ? [] : [saidText(excerpt(said.join('\n\n'), chars).text)]),
  ]
  const whole = compose(Number.POSITIVE_INFINITY)
  if (lengthOf(whole) <= maxChars) return { texts: whole, whole: true }
  const shares = 1 + (task === prompt ? 0 : 1) + (said.length === 0 ? 0 : 1)
  const room = (maxChars - lengthOf(compose(0))) / shares
  return { texts: room > 0 ? compose(room) : once, whole: false }
}

/** As one text, with an empty line between two of them. */
const lengthOf = (texts: readonly string[]) => texts.join('\n\n').length
