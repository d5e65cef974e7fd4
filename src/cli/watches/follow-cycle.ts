/** Follows a cycle of a watch to its end: its runs in turn, and what it waits for in between. */
import type { CycleDetail } from '../../contract/cycle.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import type { Attachment } from '../run/attachment.ts'
import { reportLines } from '../run/chain-text.ts'
import { followToEnd } from '../run/follow.ts'
import { askOrWait } from '../run/follow-chain.ts'
import { sleepUntil } from '../run/sleep.ts'
import { isInteractive } from '../terminal/dialogue.ts'
import { firstLine, styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { describeCycle } from './text.ts'

const LOOK_AGAIN_MS = 500

/** If the agent of another cycle was told what this one is for, that cycle is followed instead. */
export async function followCycle(
  ask: AskDaemon,
  asked: string,
  context: CliContext,
  attachment?: Attachment,
): Promise<void> {
  const { bold } = styleFor(context.stderr, context.env)
  let id = asked
  const look = () => ask((client) => client.getCycle(id))
  const seen = new Set<string>()
  let said = ''
  for (let cycle = await look(); ; cycle = await look()) {
    const run = cycle.chain?.runs.find((one) => !seen.has(one.id))
    if (run) {
      seen.add(run.id)
      if (!context.json) notify(context, bold(`→ ${run.id}${run.tier === null ? '' : `, tier ${run.tier}`}`))
      const end = await followRun(ask, id, run.id, context, attachment)
      if (end === 'left') return
      if (end === 'over') break
      continue
    }
    if (cycle.takenBy) {
      if (!context.json && cycle.message) notify(context, cycle.message)
      id = cycle.takenBy
      continue
    }
    if (cycle.state === 'ended' || cycle.state === 'skipped') break
    const waits = waitsFor(cycle, new Date())
    if (waits !== said && waits !== '' && !context.json) notify(context, waits)
    said = waits
    const asking = cycle.chain?.runs.findLast(({ escalation }) => escalation?.decision === 'ask')?.escalation
    if (asking && isInteractive(context)) await askOrWait(ask, asking, context, attachment)
    else await pause(id, context, attachment)
    if (attachment?.left.aborted) return
  }
  const cycle = await look()
  await tellEnd(cycle, context)
  context.exitCode ||= isWell(cycle) ? EXIT.done : EXIT.failed
}

/** Whether nothing is left for a person to do. */
export const isWell = ({ outcome, status }: Pick<CycleDetail, 'outcome' | 'status'>) =>
  outcome === 'completed' && (status === 'healthy' || status === 'fixed')

/** `over`: there is nothing more to follow, because the user interrupted it or the run waits for a person. */
async function followRun(
  ask: AskDaemon,
  id: string,
  runId: string,
  context: CliContext,
  attachment: Attachment | undefined,
): Promise<'ended' | 'over' | 'left'> {
  const followed = {
    runId,
    noun: 'cycle',
    cancel: () => ask((client) => client.cancelCycle(id)),
    command: `reprise watch cycle ${id}`,
  } as const
  const client = await ask(async (current) => current)
  const { settled, interrupted, left } = await followToEnd(client, followed, context, {
    leave: () => process.exit(EXIT.interrupted),
    announceResume: true,
    attachment,
  })
  if (left) return 'left'
  if (interrupted) context.exitCode = EXIT.interrupted
  else if (settled.paused) context.exitCode = EXIT.failed
  return interrupted || settled.paused ? 'over' : 'ended'
}

/** What a cycle without a running run waits for; empty if for nothing. */
export function waitsFor(cycle: CycleDetail, now: Date): string {
  if (cycle.state === 'queued') return 'waiting for its turn'
  if (cycle.chain?.state === 'waiting-for-approval') {
    const asking = cycle.chain.runs.findLast(({ escalation }) => escalation?.decision === 'ask')
    return `waiting for approval; decide with: reprise runs approve ${asking?.id ?? '…'}   (or refuse)`
  }
  const next = cycle.followUps
    .filter(({ state }) => state === 'planned')
    .sort((a, b) => a.dueAt.localeCompare(b.dueAt))[0]
  if (!next) return ''
  return `waiting for a follow-up at ${formatTime(next.dueAt, now)}: ${firstLine(next.prompt, 80)}`
}

/** Waits a moment. Ctrl-C only ends this command: no run is active that it could cancel. */
async function pause(id: string, context: CliContext, attachment: Attachment | undefined): Promise<void> {
  if (attachment) return sleepUntil(LOOK_AGAIN_MS, attachment.left)
  const before = context.interrupt
  context.interrupt = () => {
    notify(context, `The cycle continues in the background. Cancel it with: reprise watch cancel ${id}`)
    process.exit(EXIT.interrupted)
  }
  try {
    await sleepUntil(LOOK_AGAIN_MS)
  } finally {
    context.interrupt = before
  }
}

/** The report goes to stdout, everything else to stderr. */
async function tellEnd(cycle: CycleDetail, context: CliContext): Promise<void> {
  if (context.json) return printJson(context, { type: 'cycle', ...cycle })
  const words = styleFor(context.stdout, context.env)
  const style = styleFor(context.stderr, context.env)
  const now = new Date()
  const reporting = cycle.chain?.runs.findLast((run) => run.escalation?.recommendation.signal != null)
  const signal = reporting?.escalation?.recommendation.signal
  for (const line of signal ? reportLines(signal, reporting?.dryRun) : [])
    await printLine(context, words.safe(line))
  for (const line of describeCycle(cycle, style, widthOf(context.stderr), now)) notify(context, line)
}
