/** Chains of runs, and the approvals they wait for, on the command line. */
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { Approval, Escalation } from '../../contract/escalation.ts'
import { visible } from '../../contract/visible-text.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'
import { showWhole } from '../terminal/show-whole.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { chainLines, reportLines } from './chain-text.ts'

/** Adds `chain`, `approvals`, `approve` and `refuse` to `reprise runs`. */
export function addChainCommands(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a run, like run_01J…', idArgument('run')] as const
  command
    .command('chain')
    .summary('show the tiers that worked on the same investigation, and what they cost')
    .argument(...id)
    .action((runId: string) => showChain(runId, context))
  command
    .command('approvals')
    .summary('list tiers that wait for your approval')
    .action(() => listApprovals(context))
  for (const decision of ['approve', 'refuse'] as const) {
    command
      .command(decision)
      .summary(decision === 'approve' ? 'let the tier after a run start' : 'do not let it start')
      .argument(...id)
      .option('--message <text>', 'why; is recorded')
      .action((runId: string, { message }: { message?: string }) =>
        decide(runId, { decision, ...(message === undefined ? {} : { message }) }, context),
      )
  }
}

async function showChain(id: string, context: CliContext): Promise<void> {
  const chain = await (await connect(context)).client.getChain(id)
  if (context.json) return printJson(context, chain)
  const style = styleFor(context.stdout, context.env)
  for (const line of chainLines(chain, style, widthOf(context.stdout))) await printLine(context, line)
}

async function listApprovals(context: CliContext): Promise<void> {
  const waiting = await (await connect(context)).client.listApprovals()
  if (context.json) return printJson(context, { items: waiting, nextCursor: null })
  if (waiting.length === 0) return printLine(context, 'Nothing waits for approval.')
  const style = styleFor(context.stdout, context.env)
  for (const one of waiting) {
    for (const line of askLines(one)) await printLine(context, style.safe(line))
  }
}

async function decide(id: string, approval: Approval, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const seen = approval.decision === 'approve' ? await showAsk(id, client, context) : {}
  const decided = await client.decideApproval(id, { ...approval, ...seen })
  if (context.json) return printJson(context, decided)
  await printLine(context, describe(decided))
}

/** Whoever approves sees all of it, also in a script's log, and approves nothing else. */
async function showAsk(id: string, client: Client, context: CliContext): Promise<Pick<Approval, 'askHash'>> {
  const { escalation } = await client.getRun(id)
  // The daemon says what there is instead.
  if (!escalation?.askHash) return {}
  const hint = `Refuse it with: reprise runs refuse ${id}`
  if (!context.json) await showWhole(askLines(escalation).join('\n'), hint, context)
  return { askHash: escalation.askHash }
}

/** All that was said for it: whoever approves has to see the end, too. */
function askLines({ runId, toTier, expiresAt, message, recommendation: { signal } }: Escalation): string[] {
  const until = expiresAt ? ` until ${formatTime(expiresAt)}` : ''
  const said = [message, ...(signal ? reportLines(signal) : [])]
  const why = said.flatMap((text) => visible(text).split('\n'))
  return [`${runId}  waits for tier ${toTier}${until}`, ...why.map((line) => `  ${line}`)]
}

const describe = ({ decision, toTier, nextRunId, message }: Escalation) =>
  decision === 'escalate' ? `tier ${toTier} starts: ${nextRunId}` : `stopped: ${message}`
