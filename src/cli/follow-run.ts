/** Follows a run to its end, shows it, lets the user answer and cancel, and sets the exit code. */
import type { Client } from '../client/client.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Run } from '../contract/run.ts'
import { type CliContext, notify, printJson } from './context.ts'
import { EXIT } from './exit-code.ts'
import { createQuestions } from './run-questions.ts'
import { summarize } from './run-summary.ts'
import { createRunView } from './run-view.ts'
import { styleFor } from './terminal.ts'

/** How long a daemon may be away before we give up following; the agent goes on anyway. */
const AWAY_MS = 60_000

export async function followRun(client: Client, run: Run, context: CliContext): Promise<void> {
  const view = createRunView(context)
  const questions = createQuestions(client, run.id, context, view)
  const interrupted = cancelOnInterrupt(client, run, context, (line) => {
    // A question that is still on the screen would take the next Enter for an answer.
    questions.close()
    view.note(line)
  })
  let away = false
  const onRetry = () => {
    if (!away)
      view.note(
        'lost the daemon; the agent goes on by itself. Waiting for the daemon (`reprise up` starts it) …',
      )
    away = true
  }
  try {
    for await (const event of client.events(run.id, { retryForMs: AWAY_MS, onRetry })) {
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
  }
  const settled = await client.getRun(run.id)
  await view.end()
  if (context.json) await printJson(context, { type: 'run', ...settled })
  else for (const line of summarize(settled, styleFor(context.stderr, context.env))) notify(context, line)
  const code = settled.outcome === 'completed' ? EXIT.done : EXIT.failed
  context.exitCode = interrupted() ? EXIT.interrupted : code
}

function cancelOnInterrupt(
  client: Client,
  run: Run,
  context: CliContext,
  note: (line: string) => void,
): () => boolean {
  let times = 0
  context.interrupt = () => {
    times++
    if (times > 1) process.exit(EXIT.interrupted)
    note('cancelling the run … (Ctrl-C again leaves at once; the run is then cancelled in the background)')
    client.cancelRun(run.id).catch((error: unknown) => {
      note(`could not cancel: ${error instanceof Error ? error.message : error}`)
    })
  }
  return () => times > 0
}
