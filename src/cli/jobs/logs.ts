/** `reprise jobs logs` and `reprise jobs transcript`: the events of all runs of a job, and the agent's own transcript. */
import type { Client } from '../../client/client.ts'
import { type CliContext, printLine } from '../base/context.ts'
import { print } from '../base/output.ts'
import { showEvents } from '../run/events.ts'
import { styleFor } from '../terminal/terminal.ts'

/** With `follow`, continues until the job has ended or needs a person. */
export async function showLogs(
  client: Client,
  id: string,
  { follow = false }: { follow?: boolean },
  context: CliContext,
): Promise<void> {
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

export async function showTranscript(client: Client, id: string, context: CliContext): Promise<void> {
  const { safe } = styleFor(context.stdout, context.env)
  const decoder = new TextDecoder()
  for await (const chunk of await client.jobTranscript(id)) {
    await print(context.stdout, safe(decoder.decode(chunk, { stream: true })))
  }
}
