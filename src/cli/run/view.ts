/**
 * Shows a run live. The agent's text goes to stdout and nothing else does, so that it can be piped. Tool calls and what
 * happens to the run go to stderr, one line each. On a terminal, a status line shows the progress.
 */
import { stripVTControlCharacters } from 'node:util'
import type { RunEvent } from '../../contract/events.ts'
import { startText } from '../../contract/start-text.ts'
import type { CliContext } from '../base/context.ts'
import { print, write } from '../base/output.ts'
import { formatDuration } from '../terminal/amounts.ts'
import { createStatusLine, type Typed } from '../terminal/status-line.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'
import { createAnswerText } from './answer-text.ts'
import { leftOutText } from './left-out-text.ts'
import { advance, type Before, formatProgress, startProgress } from './progress.ts'
import { contentLine, toolLine } from './tool-line.ts'

export interface RunView {
  show: (event: RunEvent) => Promise<void>
  /** Prints a line of Reprise's own. */
  note: (line: string) => void
  /** Shows what a person types in the status line; null: nothing is typed. */
  showTyped: (typed: Typed | null) => void
  /** Removes the status line, for example for a question, until the returned function is called. */
  giveWay: () => () => void
  end: () => Promise<void>
}

export interface RunViewOptions {
  /** Whether to announce that the first attempt resumes a session. In a chat, where every turn does, it is not. */
  announceResume: boolean
  /** Progress before the first event that is shown. */
  before?: Before
}

export function createRunView(context: CliContext, { announceResume, before }: RunViewOptions): RunView {
  const asides = styleFor(context.stderr, context.env)
  const sameScreen = context.stdout.isTTY === true && context.stderr.isTTY === true
  let midLine = false
  let hasDeltas = false
  let makesRoom = false
  /** Tool calls whose failure is shown otherwise. */
  const explained = new Set<string>()
  let progress = startProgress(before)
  const status = createStatusLine(context, () => formatProgress(progress, new Date()))

  const say = async (text: string) => {
    if (text === '') return
    const visible = stripVTControlCharacters(text)
    status.makeWay(visible, false)
    const printed = print(context.stdout, text)
    midLine = !text.endsWith('\n')
    status.wrote(visible, false)
    await printed
  }
  const answer = createAnswerText(context, say)
  const endLine = async () => {
    await answer.end()
    if (midLine) await say('\n')
  }
  const note = (line: string) => {
    answer.giveWay(sameScreen)
    status.makeWay(line, true)
    write(context.stderr, `${asides.dim(asides.safe(line))}\n`)
    status.wrote(line, true)
  }

  const show = async (event: RunEvent): Promise<void> => {
    const advanced = advance(progress, event)
    if (advanced !== progress) status.refresh()
    progress = advanced
    // The text of a sub-agent is not shown; its tool calls are.
    const nested = 'parentToolUseId' in event && event.parentToolUseId !== undefined
    if (event.type === 'attempt-start') makesRoom = event.makesRoom === true
    if (makesRoom && (event.type === 'text-delta' || event.type === 'text-end')) return
    if (event.type === 'text-delta' && !nested) {
      hasDeltas = true
      return answer.add(event.text)
    }
    if (event.type === 'text-end' && !nested) {
      if (!hasDeltas) await answer.add(event.text)
      hasDeltas = false
      return endLine()
    }
    // The agent is told by an error that Reprise keeps the follow-up.
    const explains = event.type === 'refusal' || event.type === 'follow-up'
    if (explains && event.toolUseId !== undefined) explained.add(event.toolUseId)
    if (event.type === 'tool-end' && explained.delete(event.toolUseId)) return
    const line = asideOf(event, announceResume)
    if (line !== null) note(nested ? `  ${line}` : line)
  }

  return {
    show,
    note,
    showTyped: status.showTyped,
    giveWay: () => {
      answer.giveWay(sameScreen)
      status.hold()
      return status.release
    },
    end: async () => {
      status.close()
      await endLine()
    },
  }
}

const ANSWERED = { allow: 'allowed', deny: 'denied', answer: 'answered' } as const

/** The line for an event that is not text of the agent, or null if nothing is shown for it. */
function asideOf(event: RunEvent, announceResume: boolean): string | null {
  switch (event.type) {
    case 'attempt-start': {
      if (event.number === 1 && !(event.resumed && announceResume)) return null
      return `attempt ${event.number}: ${startText(event)}`
    }
    case 'attempt-end':
      // The reason was shown before, and the summary shows the outcome.
      return event.outcome.name === 'completed' || event.outcome.name === 'cancelled'
        ? null
        : `attempt ${event.number} ended: ${event.outcome.name}: ${withLocalTimes(event.outcome.message)}`
    case 'tool-start':
      // The report of a tier is shown at the end.
      return event.name === 'StructuredOutput' ? null : `· ${toolLine(event.name, event.input)}`
    case 'refusal':
      return `  refused: ${withLocalTimes(firstLine(event.reason, 300))}`
    case 'follow-up':
      return `  ${withLocalTimes(firstLine(event.message, 300))}`
    case 'tool-end':
      return event.isError ? `  failed: ${contentLine(event.content)}` : null
    case 'retry-wait': {
      const why = event.message ?? (event.apiStatus ? `status ${event.apiStatus}` : 'no connection')
      const when = event.delayMs === undefined ? '' : ` in ${formatDuration(event.delayMs)}`
      return `request to the model failed (${why}); retry ${event.number}${event.maxRetries ? ` of ${event.maxRetries}` : ''}${when}`
    }
    case 'rate-limit':
      return event.status === 'allowed'
        ? null
        : `rate limit: ${event.status}${event.resetsAt ? `, resets at ${formatTime(event.resetsAt)}` : ''}`
    case 'left-out':
      return leftOutText(event)
    case 'compaction':
      return 'the agent compacted its context'
    case 'reminder':
      return 'the agent was told its instructions and its task again'
    case 'memory-clear':
      return 'the agent forgot all that was said before'
    case 'question-answer':
      return event.by === 'policy' ? null : `  ${ANSWERED[event.decision]}`
    case 'message':
      return `  read a message from ${event.from ?? 'the user'}: ${firstLine(event.text, 300)}`
    case 'gap':
      return event.reason === 'disk-full'
        ? 'output may be missing here: the disk was full'
        : `output is missing here: ${event.reason}`
    case 'note':
      return withLocalTimes(event.text)
    case 'stop-request':
      return `stopping: ${withLocalTimes(event.message)}`
    default:
      return null
  }
}
