/** Shows one run in an attachment, and a summary at its end. */
import { type CliContext, notify, printJson } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import type { Attachment } from '../run/attachment.ts'
import { followToEnd } from '../run/follow.ts'
import { summarizeTurn } from '../run/summary.ts'
import { styleFor } from '../terminal/terminal.ts'

export async function followRun(
  ask: AskDaemon,
  id: string,
  context: CliContext,
  attachment: Attachment,
): Promise<void> {
  const client = await ask(async (current) => current)
  const { settled, left } = await followToEnd(
    client,
    { runId: id, noun: 'run', cancel: () => client.cancelRun(id), command: `reprise attach ${id}` },
    context,
    { announceResume: false, attachment },
  )
  if (left) return
  if (context.json) await printJson(context, { type: 'run', ...settled })
  else {
    const style = styleFor(context.stderr, context.env)
    for (const line of summarizeTurn(settled, style)) notify(context, line)
  }
  context.exitCode = settled.outcome === 'completed' ? EXIT.done : EXIT.failed
}
