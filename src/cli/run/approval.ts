/** Approving a tier: the whole request as text, and asking for the decision on a terminal. */
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Approval, Escalation } from '../../contract/escalation.ts'
import { visible } from '../../contract/visible-text.ts'
import { type CliContext, notify } from '../base/context.ts'
import { openDialogue } from '../terminal/dialogue.ts'
import { type Keys, NO_KEYS } from '../terminal/keys.ts'
import { pagesOf, showPages } from '../terminal/pages.ts'
import { styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { reportLines } from './chain-text.ts'

/** The whole request for approval: the person who approves must be able to see its end. */
export function askLines({ runId, toTier, expiresAt, message, recommendation }: Escalation): string[] {
  const until = expiresAt ? ` until ${formatTime(expiresAt)}` : ''
  const { signal } = recommendation
  const said = [message, ...(signal ? reportLines(signal) : [])]
  const why = said.flatMap((text) => visible(text).split('\n'))
  return [`${runId}  waiting for approval of tier ${toTier}${until}`, ...why.map((line) => `  ${line}`)]
}

/** Asks for the decision and sends it. Resolves to false if the person declines to decide here and now. */
export async function askForApproval(
  client: Client,
  escalation: Escalation,
  context: CliContext,
  { keys = NO_KEYS, decidedElsewhere }: { keys?: Keys | undefined; decidedElsewhere: AbortSignal },
): Promise<boolean> {
  const { runId, askHash, toTier } = escalation
  const style = styleFor(context.stderr, context.env)
  const takeBackKeys = keys.giveWay()
  const dialogue = openDialogue(context, decidedElsewhere)
  try {
    const approval = await decide(
      escalation,
      dialogue.ask,
      (page) => notify(context, style.safe(page)),
      context,
    )
    await client.decideApproval(runId, { ...approval, ...(askHash === null ? {} : { askHash }) })
    return true
  } catch (error) {
    if (decidedElsewhere.aborted) return true
    if (dialogue.declined()) {
      notify(
        context,
        `\ndecide later with: reprise runs approve ${runId}   (or refuse), about tier ${toTier}`,
      )
      return false
    }
    if (!(error instanceof RepriseError)) throw error
    notify(context, `could not decide: ${error.message}`)
    return false
  } finally {
    dialogue.close()
    takeBackKeys()
  }
}

async function decide(
  escalation: Escalation,
  ask: (prompt: string) => Promise<string>,
  show: (page: string) => void,
  { stderr }: CliContext,
): Promise<Omit<Approval, 'askHash'>> {
  const seen = await showPages(pagesOf(askLines(escalation).join('\n'), stderr), show, ask)
  if (!seen) return { decision: 'refuse' }
  const reply = (
    await ask(`approve tier ${escalation.toTier}? [y = yes, N = no, or a reason to refuse] `)
  ).trim()
  if (/^(y|yes)$/i.test(reply)) return { decision: 'approve' }
  return { decision: 'refuse', ...(/^(n|no)?$/i.test(reply) ? {} : { message: reply }) }
}
