/** Follows an investigation: its runs tier by tier, with the approvals in between, to its end. */
import type { Client } from '../../client/client.ts'
import type { Escalation } from '../../contract/escalation.ts'
import type { RunDetail } from '../../contract/run.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import { isInteractive } from '../terminal/dialogue.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'
import { askForApproval } from './approval.ts'
import type { Attachment } from './attachment.ts'
import { chainLines, reportLines } from './chain-text.ts'
import { followToEnd } from './follow.ts'
import { sleepUntil } from './sleep.ts'

export async function followChain(
  ask: AskDaemon,
  root: string,
  context: CliContext,
  attachment?: Attachment,
): Promise<void> {
  const style = styleFor(context.stderr, context.env)
  const client = await ask(async (current) => current)
  for (let runId: string | null = root; runId !== null; ) {
    const { settled, interrupted, left } = await followToEnd(
      client,
      // Cancelling the first run cancels the whole chain.
      { runId, noun: 'run', cancel: () => client.cancelRun(root), command: `reprise runs chain ${root}` },
      context,
      { leave: () => process.exit(EXIT.interrupted), announceResume: true, attachment },
    )
    if (left) return
    if (interrupted) {
      context.exitCode = EXIT.interrupted
      break
    }
    const decided = await whenDecided(ask, settled, root, context, attachment)
    if (attachment?.left.aborted) return
    if (context.json && decided) await printJson(context, { type: 'escalation', ...decided })
    runId = decided?.nextRunId ?? null
    if (runId !== null && !context.json) {
      notify(
        context,
        style.bold(`→ tier ${decided?.toTier}: ${style.safe(withLocalTimes(decided?.message ?? ''))}`),
      )
    }
  }
  await tellEnd(ask, root, context)
}

async function tellEnd(ask: AskDaemon, root: string, context: CliContext): Promise<void> {
  const chain = await ask((client) => client.getChain(root))
  const last = chain.runs.at(-1)
  const signal = last?.escalation?.recommendation.signal
  if (context.json) await printJson(context, { type: 'chain', ...chain })
  else {
    const style = styleFor(context.stderr, context.env)
    const words = styleFor(context.stdout, context.env)
    for (const line of signal ? reportLines(signal, last?.dryRun) : [])
      await printLine(context, words.safe(line))
    for (const line of chainLines(chain, style, widthOf(context.stderr))) notify(context, line)
  }
  context.exitCode ||= last?.escalation?.reason === 'not-recommended' ? EXIT.done : EXIT.failed
}

const LOOK_AGAIN_MS = 1000

/** Asks for the approval of a tier, or waits until somebody decides; also across restarts of the daemon. */
async function whenDecided(
  ask: AskDaemon,
  run: RunDetail,
  root: string,
  context: CliContext,
  attachment: Attachment | undefined,
): Promise<Escalation | null> {
  const { escalation } = run
  if (escalation?.decision !== 'ask') return escalation
  if (context.json) await printJson(context, { type: 'escalation', ...escalation })
  const before = context.interrupt
  if (!attachment) {
    context.interrupt = () => {
      notify(context, `\nIt keeps waiting for approval. Cancel it with: reprise runs cancel ${root}`)
      process.exit(EXIT.interrupted)
    }
  }
  try {
    return await askOrWait(ask, escalation, context, attachment)
  } finally {
    context.interrupt = before
  }
}

/** While a person is asked here, somebody else may decide, or the time may run out. */
export async function askOrWait(
  ask: AskDaemon,
  escalation: Escalation,
  context: CliContext,
  attachment: Attachment | undefined,
): Promise<Escalation | null> {
  const over = new AbortController()
  const look = async () => (await ask((client) => client.getRun(escalation.runId))).escalation
  const looking = waitForDecision(look, attachment?.left).finally(() => over.abort())
  if (isInteractive(context)) {
    const decidedElsewhere = attachment ? AbortSignal.any([over.signal, attachment.left]) : over.signal
    const asking = ask((client: Client) =>
      askForApproval(client, escalation, context, { keys: attachment?.keys, decidedElsewhere }),
    )
    const [decided] = await Promise.all([looking, asking])
    return decided
  }
  if (!context.json) {
    const until = escalation.expiresAt ? ` until ${formatTime(escalation.expiresAt)}` : ''
    notify(
      context,
      `${escalation.message}\nwaiting${until} for approval; decide with: reprise runs approve ${escalation.runId}   (or refuse)`,
    )
  }
  return looking
}

async function waitForDecision(
  look: () => Promise<Escalation | null>,
  left: AbortSignal | undefined,
): Promise<Escalation | null> {
  for (;;) {
    const escalation = await look()
    if (escalation?.decision !== 'ask' || left?.aborted) return escalation
    await sleepUntil(LOOK_AGAIN_MS, left)
  }
}
