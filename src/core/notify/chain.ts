/** What there is to tell of a chain, from what followed from its newest run. */
import type { EscalationReason } from '../../contract/escalation.ts'
import type { ChainNotice, NotifyEvent } from '../../contract/notification.ts'
import { cutMiddle, visible } from '../../contract/visible-text.ts'
import { cut } from './message.ts'
import type { Notice } from './plan.ts'

/** That it was cancelled or refused is known to whoever did so; where it goes on by itself there is nothing to say yet. */
const EVENTS: Partial<Record<EscalationReason | 'paused', NotifyEvent>> = {
  paused: 'attention',
  quarantined: 'attention',
  'approval-needed': 'attention',
  'approval-timeout': 'attention',
  'no-recommendation': 'attention',
  'max-tier': 'attention',
  cooldown: 'attention',
  budget: 'attention',
  'not-recommended': 'done',
  failed: 'failed',
}

/** null: nothing that people want to be told of. A run is decided about once, or asked and then answered. */
export function noticeOfChain(chain: ChainNotice): Notice | null {
  const event = EVENTS[chain.state]
  if (!event) return null
  const payload = {
    ...chain,
    message: cutMiddle(visible(chain.message), 8000, `reprise runs chain ${chain.id}`),
    summary: cutMiddle(visible(chain.summary), 8000, `reprise runs chain ${chain.id}`),
    prompt: cut(chain.prompt, 500),
  }
  return {
    event,
    subject: { kind: 'chain', id: chain.id },
    occurrence: `${chain.runId} ${chain.state}`,
    payload,
  }
}
