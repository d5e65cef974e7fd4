/** Follows a run to its end: shows its events and lets the user answer questions. Ctrl-C cancels it, or leaves an attachment. */
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { RunDetail } from '../../contract/run.ts'
import { type CliContext, printJson } from '../base/context.ts'
import type { Attachment } from './attachment.ts'
import type { LineInput } from './line-input.ts'
import { createQuestions } from './questions.ts'
import { createRunView, type RunViewOptions } from './view.ts'
import { createWaitNotice } from './wait-notice.ts'

/** How long the daemon may be unreachable before following ends with an error. The agent keeps running. */
const AWAY_MS = 60_000

/** A run, and what it belongs to: a chat (shown as a run), a job, or a cycle of a watch. */
export interface Followed {
  runId: string
  noun: 'run' | 'job' | 'cycle'
  cancel: () => Promise<unknown>
  /** The command that shows it again. */
  command: string
}

export interface FollowOptions extends RunViewOptions {
  /** Called on the second Ctrl-C; the first one cancels the run. Not used in an attachment. */
  leave?: () => void
  signal?: AbortSignal
  /** Set if Ctrl-C leaves the run alone. */
  attachment?: Attachment | undefined
  /** Set if a person may type while the run is followed. Not used in an attachment. */
  input?: LineInput | undefined
  /** Start after the event with this number. */
  after?: number
  /** Called with every event after it was shown; may add a line. */
  see?: (event: RunEvent, note: (line: string) => void) => void
}

export interface Ended {
  settled: RunDetail
  /** The user cancelled it. */
  interrupted: boolean
  /** The user left it alone. */
  left: boolean
}

/** Returns when the run is settled or paused for a person, or when the user leaves. Throws when `signal` is aborted. */
export async function followToEnd(
  client: Client,
  followed: Followed,
  context: CliContext,
  { leave = () => {}, signal, attachment, input, after = 0, see, ...shown }: FollowOptions,
): Promise<Ended> {
  const { runId } = followed
  const view = createRunView(context, shown)
  const questions = createQuestions(client, runId, context, view, attachment?.keys ?? input?.keys)
  const note = (line: string) => {
    // A question that is still on the screen would take the next Enter as an answer.
    questions.close()
    view.note(line)
  }
  const interrupts = attachment
    ? leaveOnInterrupt
    : cancelOnInterrupt(followed, context, { note, leave, giveWay: view.giveWay })
  attachment?.showIn(note)
  input?.showIn(view)
  let away = false
  const onRetry = () => {
    if (!away)
      view.note(
        'lost the connection to the daemon; the agent keeps running. Waiting for the daemon (start it with `reprise up`) …',
      )
    away = true
  }
  const until = signal ?? attachment?.left
  const follow = { after, retryForMs: AWAY_MS, onRetry, ...(until ? { signal: until } : {}) }
  const waits = createWaitNotice(client, runId, view.note)
  try {
    for await (const event of client.events(runId, follow)) {
      away = false
      if (context.json) await printJson(context, event)
      else await view.show(event)
      questions.see(event)
      see?.(event, view.note)
      waits.see(event)
      if (event.type === 'note' && (await isPausedBy(client, runId, event.text))) break
    }
  } catch (error) {
    if (attachment?.left.aborted)
      return { settled: await client.getRun(runId), interrupted: false, left: true }
    if (!(error instanceof RepriseError) || error.code !== 'daemon-unreachable') throw error
    throw new RepriseError('daemon-unreachable', `${error.message}, while following ${runId}`, {
      hint: `The ${followed.noun} is not lost. Start the daemon with \`reprise up\`, then see \`${followed.command}\`.`,
    })
  } finally {
    waits.close()
    questions.close()
    interrupts.restore()
    attachment?.showIn(null)
    input?.showIn(null)
    await view.end()
  }
  return { settled: await client.getRun(runId), interrupted: interrupts.count() > 0, left: false }
}

/** The attachment handles Ctrl-C. */
const leaveOnInterrupt = { count: () => 0, restore: () => {} }

/** Nothing more happens to such a run until a person makes it go on. */
async function isPausedBy(client: Client, runId: string, why: string): Promise<boolean> {
  if (!why.startsWith('paused: ')) return false
  const run = await client.getRun(runId).catch(() => null)
  return run?.paused === true && run.message === why
}

interface InterruptOptions {
  note: (line: string) => void
  leave: () => void
  giveWay: () => unknown
}

function cancelOnInterrupt({ noun, cancel }: Followed, context: CliContext, options: InterruptOptions) {
  const { note, leave, giveWay } = options
  const before = context.interrupt
  let times = 0
  context.interrupt = () => {
    times++
    if (times > 1) return leave()
    note(`cancelling the ${noun} … (Ctrl-C again exits now; the ${noun} is still cancelled)`)
    giveWay()
    cancel().catch((error: unknown) => {
      // It has just ended.
      if (error instanceof RepriseError && error.code === 'run-settled') return
      note(`could not cancel: ${error instanceof Error ? error.message : error}`)
    })
  }
  return {
    count: () => times,
    restore: () => {
      context.interrupt = before
    },
  }
}
