/**
 * A run as it happens: what the agent says on stdout, what it does and what happens to it on stderr, a line each.
 * stdout carries nothing but the agent's words, so it can be piped. On a terminal, a line beneath says how far it is.
 */
import type { RunEvent } from '../../contract/events.ts'
import { type CliContext, print } from '../base/context.ts'
import { formatDuration } from '../terminal/amounts.ts'
import { createStatusLine } from '../terminal/status-line.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { leftOutText } from './left-out-text.ts'
import { advance, type Before, formatProgress, startProgress } from './progress.ts'
import { contentLine, toolLine } from './tool-line.ts'

export interface RunView {
  show: (event: RunEvent) => Promise<void>
  /** A line of our own. */
  note: (line: string) => void
  /** Leaves the screen to something else, such as a question, until the function it returns is called. */
  giveWay: () => () => void
  end: () => Promise<void>
}

export interface RunViewOptions {
  /** Say that the first attempt resumes a session. Where every turn does, its summary is enough. */
  announceResume: boolean
  /** What was done before the first event that will be shown. */
  before?: Before
}

export function createRunView(context: CliContext, { announceResume, before }: RunViewOptions): RunView {
  const words = styleFor(context.stdout, context.env)
  const asides = styleFor(context.stderr, context.env)
  const sameScreen = context.stdout.isTTY === true && context.stderr.isTTY === true
  let midLine = false
  let hasDeltas = false
  let makesRoom = false
  const refused = new Set<string>()
  let progress = startProgress(before)
  const status = createStatusLine(context, () => formatProgress(progress, new Date()))

  const say = async (text: string) => {
    if (text === '') return
    const shown = words.safe(text)
    status.makeWay(shown, false)
    const printed = print(context.stdout, shown)
    midLine = !text.endsWith('\n')
    status.wrote(shown, false)
    await printed
  }
  const endLine = async () => {
    if (midLine) await say('\n')
  }
  const note = (line: string) => {
    status.makeWay(line, true)
    if (midLine && sameScreen) {
      context.stdout.write('\n')
      midLine = false
    }
    context.stderr.write(`${asides.dim(asides.safe(line))}\n`)
    status.wrote(line, true)
  }

  const show = async (event: RunEvent): Promise<void> => {
    const advanced = advance(progress, event)
    if (advanced !== progress) status.refresh()
    progress = advanced
    // What a sub-agent says is its parent's business; what it does is shown.
    const nested = 'parentToolUseId' in event && event.parentToolUseId !== undefined
    if (event.type === 'attempt-start') makesRoom = event.makesRoom === true
    if (makesRoom && (event.type === 'text-delta' || event.type === 'text-end')) return
    if (event.type === 'text-delta' && !nested) {
      hasDeltas = true
      return say(event.text)
    }
    if (event.type === 'text-end' && !nested) {
      if (!hasDeltas) await say(event.text)
      hasDeltas = false
      return endLine()
    }
    if (event.type === 'refusal' && event.toolUseId !== undefined) refused.add(event.toolUseId)
    // That it failed has been said, and why.
    if (event.type === 'tool-end' && refused.delete(event.toolUseId)) return
    const line = asideOf(event, announceResume)
    if (line !== null) note(nested ? `  ${line}` : line)
  }

  return {
    show,
    note,
    giveWay: () => {
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

/** The line for an event that is not the agent's words, or null if it is not worth one. */
function asideOf(event: RunEvent, announceResume: boolean): string | null {
  switch (event.type) {
    case 'attempt-start': {
      if (event.number === 1 && !(event.resumed && announceResume)) return null
      const how = event.resumed ? 'resuming the session' : `fresh session (${event.freshReason ?? 'new'})`
      return `attempt ${event.number}: ${how}`
    }
    case 'attempt-end':
      // Why it was stopped has been said before, and the summary says that it was.
      return event.outcome.name === 'completed' || event.outcome.name === 'cancelled'
        ? null
        : `attempt ${event.number} ended: ${event.outcome.name}: ${event.outcome.message}`
    case 'tool-start':
      // What an agent reports at the end is said in better words then.
      return event.name === 'StructuredOutput' ? null : `· ${toolLine(event.name, event.input)}`
    case 'refusal':
      return `  refused: ${firstLine(event.reason, 300)}`
    case 'follow-up':
      return `  ${firstLine(event.message, 300)}`
    case 'tool-end':
      return event.isError ? `  failed: ${contentLine(event.content)}` : null
    case 'retry-wait': {
      const why = event.message ?? (event.apiStatus ? `status ${event.apiStatus}` : 'no connection')
      const when = event.delayMs === undefined ? '' : ` in ${formatDuration(event.delayMs)}`
      return `the model's API: ${why}; try ${event.number}${event.maxRetries ? ` of ${event.maxRetries}` : ''}${when}`
    }
    case 'rate-limit':
      return event.status === 'allowed'
        ? null
        : `rate limit: ${event.status}${event.resetsAt ? `, resets at ${event.resetsAt}` : ''}`
    case 'left-out':
      return leftOutText(event)
    case 'compaction':
      return 'the agent compacted its context'
    case 'memory-clear':
      return 'the agent forgot all that was said before'
    case 'question-answer':
      return event.by === 'policy' ? null : `  ${ANSWERED[event.decision]}`
    case 'gap':
      return `output is missing here: ${event.reason}`
    case 'note':
      return event.text
    case 'stop-request':
      return `stopping: ${event.message}`
    default:
      return null
  }
}
