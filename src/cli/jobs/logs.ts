/** `reprise jobs logs` and `reprise jobs transcript`: what the agent said and did, and its own transcript. */
import type { Client } from '../../client/client.ts'
import { shortId } from '../../contract/reference.ts'
import { type CliContext, notify, printLine } from '../base/context.ts'
import { print } from '../base/output.ts'
import { pendingLines } from '../run/detail.ts'
import { showEvents } from '../run/events.ts'
import { createRunView } from '../run/view.ts'
import { styleFor } from '../terminal/terminal.ts'
import { withLocalTimes } from '../terminal/time.ts'
import { explainState } from './text.ts'

/** With `follow`, continues until the job has ended or needs a person. */
export async function showLogs(
  client: Client,
  id: string,
  { follow = false, raw = false }: { follow?: boolean; raw?: boolean },
  context: CliContext,
): Promise<void> {
  if (!raw && !context.json) return showReadable(client, id, follow, context)
  const { dim } = styleFor(context.stdout, context.env)
  const shown = new Set<string>()
  for (;;) {
    const { runIds } = await client.getJob(id)
    const more = runIds.filter((runId) => !shown.has(runId))
    for (const runId of more) {
      // The events of each run are numbered from 1.
      if (runIds.length > 1 && !context.json) await printLine(context, dim(runId))
      await showEvents(client, runId, { follow }, context)
      shown.add(runId)
    }
    // The job may have been retried in the meantime.
    if (!follow || more.length === 0) return
  }
}

/** As `reprise run` shows it. Ctrl-C only ends this command. */
async function showReadable(client: Client, id: string, follow: boolean, context: CliContext): Promise<void> {
  const view = createRunView(context, { announceResume: true })
  let shownRun = ''
  try {
    for await (const event of client.jobEvents(id, { follow })) {
      if (shownRun !== '' && shownRun !== event.runId) view.note(`continued in ${event.runId}`)
      shownRun = event.runId
      await view.show(event)
    }
  } finally {
    await view.end()
  }
  const job = await client.getJob(id)
  const { dim } = styleFor(context.stderr, context.env)
  notify(context, dim(`${shortId(id)} ${withLocalTimes(explainState(job))}`))
  for (const line of pendingLines(job.runId, job.pending)) notify(context, line)
}

export async function showTranscript(client: Client, id: string, context: CliContext): Promise<void> {
  const { safe } = styleFor(context.stdout, context.env)
  const decoder = new TextDecoder()
  for await (const chunk of await client.jobTranscript(id)) {
    await print(context.stdout, safe(decoder.decode(chunk, { stream: true })))
  }
}
