/**
 * Composes what an agent is told when it continues after an interruption: what it did, what it waited for, what it was
 * saying. Reprise may have seen more than the session contains, because the CLI writes its transcript later than its
 * output, and a question may have been answered after the agent had died.
 */

import type { ToolResult } from '../../contract/question.ts'
import type { FreshReason } from '../../contract/run.ts'
import { clip, quoted } from './parts.ts'
import type { PastPart } from './past.ts'

/** What a tool call waited for when the agent process died. Set only if the tool certainly did not run. */
export type Waited =
  | { for: 'answer'; answers: NonNullable<ToolResult['answers']> | null }
  | { for: 'permission' }
  /** A person denied the call. */
  | { for: 'refused'; why: string | null }

export interface ToolCall {
  name: string
  input: unknown
  /** null: the call had not ended when the agent process died. */
  ending: 'ok' | 'error' | null
  waited?: Waited | null
}

/** A text of the agent, or a call of a tool. `nested`: a sub-agent called it. */
export type Step = { text: string } | { tool: ToolCall; nested?: boolean }

/** What happened to the earlier attempts at this run. */
export interface Interruption {
  how: string
  /** The tool calls of all attempts, in order, and the texts of those turns that did not end. */
  steps: readonly Step[]
  /** All texts and calls after the agent had accepted this run's prompt. */
  stepsSincePrompt: readonly Step[]
  /** Everything the agent said and did, in order, with the output of the tools. */
  work: readonly PastPart[]
  /** The agent's session already contains this run's prompt. */
  promptRecorded: boolean
}

/** null: the call was allowed, so it may have run. */
export function waitedFor(
  what: 'answer' | 'permission',
  given: Omit<ToolResult, 'toolUseId'> | null,
): Waited | null {
  if (given?.decision === 'deny') return { for: 'refused', why: given.message ?? null }
  if (what === 'answer') return { for: 'answer', answers: given?.answers ?? null }
  return given === null ? { for: 'permission' } : null
}

export const sayAnswers = (answers: NonNullable<ToolResult['answers']>) =>
  Object.entries(answers)
    .map(([question, answer]) => `${JSON.stringify(question)} = ${JSON.stringify(answer)}`)
    .join(', ')

/** The mark that replaces a secret. */
const HIDDEN = /\[redacted/

const LAST_TOOLS = 10
const SAYING_CHARS = 4000

export function resumedAfter({ how, steps }: Interruption): string {
  return [
    `You were interrupted: ${sentence(how)} This is the same task, going on from where you were.`,
    ...workSeen(steps),
  ].join('\n')
}

/**
 * For a session that lacks this run's prompt although the agent had started to work on it: the CLI writes its
 * transcript some time after it has sent a prompt to the model, and was killed in between. The text is sent together
 * with the prompt. null: no work was seen, so the prompt can be sent as if it were new.
 */
export function begunBefore({ how, stepsSincePrompt }: Interruption): string | null {
  if (stepsSincePrompt.length === 0) return null
  return [
    `You were interrupted: ${sentence(how)} You had begun with this message, although your own history does not show it.`,
    ...workSeen(stepsSincePrompt),
  ].join('\n')
}

/**
 * The last steps, the text that was cut off, and how to continue from there. Several attempts in a row may have died before
 * their session had anything of them, so texts between the calls are told too.
 */
function workSeen(steps: readonly Step[]): string[] {
  const lastCall = steps.findLastIndex((step) => 'tool' in step && !step.nested)
  const saying = steps.slice(lastCall + 1).flatMap((step) => ('text' in step ? [step.text] : []))
  const last = lastSteps(steps.filter((step, index) => 'tool' in step || index < lastCall))
  return [
    ...(last.length > 0
      ? [
          'Your last tool calls, and what you said between them, as Reprise saw them; your own history may lack the end of this:',
          ...last.map((step) =>
            'tool' in step ? toolLine(step.tool) : `- you said: ${saidText(step.text)}`,
          ),
        ]
      : []),
    ...(saying.length === 0
      ? []
      : [
          'This is what you were saying until you were cut off. It has been seen: go on right behind it, and do not say it again.',
          saidText(endOf(saying.join('\n'), SAYING_CHARS)),
        ]),
    last.some((step) => 'tool' in step && isUnknown(step.tool))
      ? 'Where the outcome is unknown, it may have run in part or in full: look at the actual state before you run it again. Then go on with the task.'
      : 'Do not start over, and do not repeat what is done: go on with the task.',
  ]
}

/** The newest steps: a number of calls, and as much of the texts between them. */
function lastSteps(steps: readonly Step[]): Step[] {
  const last: Step[] = []
  let calls = 0
  let chars = SAYING_CHARS
  for (const step of steps.toReversed()) {
    if ('tool' in step) {
      if (++calls > LAST_TOOLS) break
      last.unshift(step)
    } else if (chars > 0) {
      last.unshift({ text: endOf(step.text, chars) })
      chars -= step.text.length
    }
  }
  return last
}

const endOf = (text: string, chars: number) => (text.length > chars ? `…${text.slice(-chars)}` : text)

const saidText = (text: string) => `<said>${quoted(text)}</said>`

/** The reasons for a new session although the old one could have been resumed. */
const WHY_NEW: Partial<Record<FreshReason, string>> = {
  forced: 'This is a new session because a new session was asked for.',
  'too-many-resumes': 'It was interrupted again and again in its session, so this is a new one.',
}

/**
 * For a new session: what the agent said and did before, in order. `steps` are the newest steps that fit; `all` is how
 * many there were.
 */
export function handoff(
  { how, work }: Interruption,
  reason: FreshReason,
  { steps, all }: { steps: readonly string[]; all: number },
): string {
  const left = all - steps.length
  return [
    `An earlier attempt at the task below was interrupted (${how}). ${WHY_NEW[reason] ?? 'Its session cannot be resumed.'}`,
    ...(all > 0 ? ['What it said and did in it, in order, as Reprise saw it:'] : []),
    ...(left > 0 ? [`(${left} earlier ${left === 1 ? 'step is' : 'steps are'} left out.)`] : []),
    ...steps,
    work.some(({ kind }) => kind === 'tool')
      ? 'What these tools did stays done: look at the actual state before repeating any of it.'
      : 'It had not run any tools.',
  ].join('\n')
}

/** A tool call as a step of the work. */
export const stepOf = (tool: ToolCall, output = '', missing = 0): PastPart => ({
  kind: 'tool',
  name: tool.name,
  input: inputText(tool),
  ending: describeEnding(tool),
  output,
  missing,
})

/** Ends the text with exactly one full stop. */
const sentence = (text: string) => `${text.replace(/[.\s]+$/, '')}.`

const isUnknown = ({ ending, waited }: ToolCall) => ending === null && !waited

const TOOL_INPUT_CHARS = 500

function toolLine(tool: ToolCall): string {
  return `- ${tool.name} ${clip(inputText(tool), TOOL_INPUT_CHARS)}: ${describeEnding(tool)}`
}

const inputText = ({ input }: ToolCall) => (typeof input === 'string' ? input : JSON.stringify(input)) ?? ''

function describeEnding({ ending, waited }: ToolCall): string {
  if (ending !== null) return ending === 'ok' ? 'done' : 'failed'
  switch (waited?.for) {
    case 'answer':
      if (waited.answers && HIDDEN.test(JSON.stringify(waited.answers)))
        return 'answered, but with a secret that was not kept; ask again'
      return waited.answers
        ? `the user answered ${quoted(sayAnswers(waited.answers))}; take that for the answer, and do not ask again`
        : 'not answered yet; ask again if you still need to know'
    case 'permission':
      return 'waited for permission, so it did not run; call it again if it is still needed'
    case 'refused':
      return `refused${waited.why ? ` (${quoted(waited.why)})` : ''}, so it did not run`
    default:
      return 'outcome unknown'
  }
}
