/** `reprise runs events`: the events of a run, one per line. */
import type { Client } from '../../client/client.ts'
import type { EventOf, RunEvent } from '../../contract/events.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { formatLogTime, formatTime, withLocalTimes } from '../terminal/time.ts'
import { contentLine, toolLine } from './tool-line.ts'

export async function showEvents(
  client: Client,
  id: string,
  { follow = false, after = 0 }: { follow?: boolean; after?: number },
  context: CliContext,
): Promise<void> {
  const style = styleFor(context.stdout, context.env)
  for await (const event of client.events(id, { follow, after })) {
    if (context.json) {
      await printJson(context, event)
      continue
    }
    const time = formatLogTime(event.at)
    const start = `${String(event.seq).padStart(5)} ${time} ${event.type.padEnd(16)}`
    await printLine(context, `${style.dim(start)} ${style.safe(gistOf(event))}`.trimEnd())
  }
}

function gistOf(event: RunEvent): string {
  switch (event.type) {
    case 'tool-start':
      return toolLine(event.name, event.input)
    case 'tool-end':
      return `${event.isError ? 'failed: ' : ''}${contentLine(event.content)}`
    case 'attempt-end':
    case 'run-end':
    case 'turn-end':
      return `${event.outcome.name}: ${withLocalTimes(firstLine(event.outcome.message, 200))}`
    case 'permission-ask':
      return toolLine(event.tool, event.input)
    case 'follow-up':
      return followUpGist(event)
    case 'note':
      return withLocalTimes(firstLine(event.text, 100))
    case 'native':
      return event.name
    default: {
      const { type: _type, runId: _runId, seq: _seq, attemptId: _attemptId, at: _at, ...rest } = event
      const text = 'text' in rest && typeof rest.text === 'string' ? rest.text : JSON.stringify(rest)
      return firstLine(text, 100)
    }
  }
}

/** The action, the follow-up, its due time, and the answer that the agent got. */
function followUpGist({ action, followUpId, dueAt, message }: EventOf<'follow-up'>): string {
  const parts = [action, ...(followUpId ? [followUpId] : []), ...(dueAt ? [`due ${formatTime(dueAt)}`] : [])]
  return `${parts.join(' ')}: ${withLocalTimes(firstLine(message, 100))}`
}
