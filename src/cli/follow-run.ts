/** Follows a run to its end, shows it, lets the user answer and cancel, and sets the exit code. */
import type { Client } from '../client/client.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Run, RunDetail } from '../contract/run.ts'
import { type CliContext, notify, printJson } from './context.ts'
import { EXIT } from './exit-code.ts'
import { createQuestions } from './run-questions.ts'
import { summarize } from './run-summary.ts'
import { createRunView, type RunViewOptions } from './run-view.ts'
import { styleFor } from './terminal.ts'

/** How long a daemon may be away before we give up following; the agent goes on anyway. */
const AWAY_MS = 60_000

export interface FollowOptions extends RunViewOptions {
  /** What a second Ctrl-C does; the first one cancels the run. */
  leave: () => void
  signal?: AbortSignal
}

export async function followRun(client: Client, run: Run, context: CliContext): Promise<void> {
  const leave = () => process.exit(EXIT.interrupted)
  const { settled, interrupted } = await followToEnd(client, run, context, { leave, announceResume: true })
  if (context.json) await printJson(context, { type: 'run', ...settled })
  else for (const line of summarize(settled, styleFor(context.stderr, context.env))) notify(context, line)
  const code = settled.outcome === 'completed' ? EXIT.done : EXIT.failed
  context.exitCode = interrupted ? EXIT.interrupted : code
}

/** Until the run is settled, or `signal` says that nobody cares any more. */
export async function followToEnd(
  client: Client,
  run: Run,
  context: CliContext,
  { leave, signal, announceResume }: FollowOptions,
): Promise<{ settled: RunDetail; interrupted: boolean }> {
  const view = createRunView(context, { announceResume })
  const questions = createQuestions(client, run.id, context, view)
  const note = (line: string) => {
    // A question that is still on the screen would take the next Enter for an answer.
    questions.close()
    view.note(line)
  }
  const interrupts = cancelOnInterrupt({ client, run, context, note, leave })
  let away = false
  const onRetry = () => {
    if (!away)
      view.note(
        'lost the daemon; the agent goes on by itself. Waiting for the daemon (`reprise up` starts it) …',
      )
    away = true
  }
  const follow = { retryForMs: AWAY_MS, onRetry, ...(signal ? { signal } : {}) }
  try {
    for await (const event of client.events(run.id, follow)) {
      away = false
      if (context.json) await printJson(context, event)
      else await view.show(event)
      questions.see(event)
    }
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'daemon-unreachable') throw error
    throw new RepriseError('daemon-unreachable', `${error.message}, while following ${run.id}`, {
      hint: `The run is not lost. \`reprise up\` takes it over, \`reprise runs events --follow ${run.id}\` shows it.`,
    })
  } finally {
    questions.close()
    interrupts.restore()
    await view.end()
  }
  return { settled: await client.getRun(run.id), interrupted: interrupts.count() > 0 }
}

interface Interruptible {
  client: Client
  run: Run
  context: CliContext
  note: (line: string) => void
  leave: () => void
}

function cancelOnInterrupt({ client, run, context, note, leave }: Interruptible) {
  const before = context.interrupt
  let times = 0
  context.interrupt = () => {
    times++
    if (times > 1) return leave()
    note('cancelling the run … (Ctrl-C again leaves at once; the run is then cancelled in the background)')
    client.cancelRun(run.id).catch((error: unknown) => {
      // It ended by itself just now.
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
