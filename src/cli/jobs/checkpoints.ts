/** `reprise jobs diff`, `restore` and `rewind`: the checkpoints of a job. */
import type { Client } from '../../client/client.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { type Style, styleFor } from '../terminal/terminal.ts'

export interface DiffRequest {
  id: string
  from: number | undefined
  to: number | undefined
  /** Prints only the names of the files. */
  stat: boolean
}

export async function showDiff(client: Client, request: DiffRequest, context: CliContext): Promise<void> {
  const { id, from, to, stat } = request
  const diff = await client.diffJob(id, { from, to })
  if (context.json) return printJson(context, diff)
  const range = `from checkpoint ${diff.from} to ${diff.to === null ? 'the work tree' : `checkpoint ${diff.to}`}`
  if (diff.files.length === 0) return notify(context, `Nothing changed ${range}.`)
  const style = styleFor(context.stdout, context.env)
  if (stat) {
    for (const { status, path } of diff.files) await printLine(context, style.safe(`${status}\t${path}`))
    return
  }
  for (const line of diff.patch.replace(/\n$/, '').split('\n')) {
    await printLine(context, painterFor(line, style)(style.safe(line)))
  }
  if (diff.truncated) notify(context, 'The patch is too long and was cut here; --stat lists all files.')
}

function painterFor(line: string, { red, green, bold }: Style): (text: string) => string {
  if (/^(diff |index |--- |\+\+\+ )/.test(line)) return bold
  if (line.startsWith('+')) return green
  return line.startsWith('-') ? red : (text) => text
}

export async function restoreCheckpoint(
  client: Client,
  id: string,
  checkpoint: number,
  context: CliContext,
): Promise<void> {
  const done = await client.restoreJob(id, checkpoint)
  if (context.json) return printJson(context, done)
  await printLine(context, `Restored the work tree to checkpoint ${done.restored}.`)
  if (done.saved !== null) notify(context, `To undo this: reprise jobs restore ${id} ${done.saved}`)
}

export async function rewind(
  client: Client,
  id: string,
  checkpoint: number,
  context: CliContext,
): Promise<void> {
  const done = await client.rewindJob(id, checkpoint)
  if (context.json) return printJson(context, done)
  const session = done.session ? `forked its session there: ${done.session}` : 'its next session is a new one'
  await printLine(context, `Restored the work tree to checkpoint ${done.restored}, and ${session}.`)
  if (done.saved !== null) notify(context, `The files before are checkpoint ${done.saved}.`)
  notify(context, `Continue with: reprise jobs retry ${id}`)
  if (done.session) notify(context, `Or with another prompt: reprise run --session ${done.session} "…"`)
}
