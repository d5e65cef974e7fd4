/** Subcommands of `reprise runs` for chains of runs and the approvals that they wait for. */
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { Approval, Escalation } from '../../contract/escalation.ts'
import type { Page } from '../../contract/http.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { addPageOptions, type PageRequest, pageRequest } from '../list/list-command.ts'
import { showWhole } from '../terminal/show-whole.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { askLines } from './approval.ts'
import { chainLines } from './chain-text.ts'

/** Adds `chain`, `approvals`, `approve` and `refuse` to `reprise runs`. */
export function addChainCommands(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a run, like run_01J…', idArgument('run')] as const
  command
    .command('chain')
    .summary('show all tiers of an investigation, with their cost')
    .argument(...id)
    .action((runId: string) => showChain(runId, context))
  addPageOptions(command.command('approvals').summary('list tiers that wait for approval')).action(
    (options: Partial<PageRequest>) => listApprovals(pageRequest(options), context),
  )
  for (const decision of ['approve', 'refuse'] as const) {
    command
      .command(decision)
      .summary(
        decision === 'approve' ? 'approve the next tier after a run' : 'refuse the next tier after a run',
      )
      .argument(...id)
      .option('--message <text>', 'a reason, which is recorded')
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

async function listApprovals(request: PageRequest, context: CliContext): Promise<void> {
  const waiting = await (await connect(context)).client.listApprovals()
  const page = pageOf(waiting, request)
  if (context.json) return printJson(context, page)
  if (page.items.length === 0) return notify(context, 'Nothing is waiting for approval.')
  const style = styleFor(context.stdout, context.env)
  for (const one of page.items) {
    for (const line of askLines(one)) await printLine(context, style.safe(line))
  }
  if (page.nextCursor) {
    notify(context, style.dim(`More: reprise runs approvals --cursor ${page.nextCursor}`))
  }
}

/** The API returns all open approvals at once. The cursor is the id of the last run that was shown. */
function pageOf(waiting: readonly Escalation[], { limit, cursor }: PageRequest): Page<Escalation> {
  const seen = cursor === undefined ? -1 : waiting.findIndex(({ runId }) => runId === cursor)
  if (cursor !== undefined && seen === -1) {
    throw usageError(`--cursor ${cursor}: no longer in the list`, 'List again without --cursor.')
  }
  const items = waiting.slice(seen + 1, seen + 1 + limit)
  const isLast = seen + 1 + limit >= waiting.length
  return { items, nextCursor: isLast ? null : (items.at(-1)?.runId ?? null) }
}

async function decide(id: string, approval: Approval, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const seen = approval.decision === 'approve' ? await showAsk(id, client, context) : {}
  const decided = await client.decideApproval(id, { ...approval, ...seen })
  if (context.json) return printJson(context, decided)
  await printLine(context, describe(decided))
}

/** Shows the whole request before it is approved, also in the log of a script. The approval is bound to what was shown. */
async function showAsk(id: string, client: Client, context: CliContext): Promise<Pick<Approval, 'askHash'>> {
  const { escalation } = await client.getRun(id)
  // The daemon reports what the state is instead.
  if (!escalation?.askHash) return {}
  const hint = `Refuse it with: reprise runs refuse ${id}`
  if (!context.json) await showWhole(askLines(escalation).join('\n'), hint, context)
  return { askHash: escalation.askHash }
}

const describe = ({ decision, toTier, nextRunId, message }: Escalation) =>
  decision === 'escalate' ? `tier ${toTier} starts as ${nextRunId}` : `ended: ${message}`
