/** Decides whether the newest decision about a chain is worth a notification. */
import type { EscalationReason } from '../../contract/escalation.ts'
import type { ChainNotice, NotifyEvent } from '../../contract/notification.ts'
import { cutMiddle, visible } from '../../contract/visible-text.ts'
import { cut } from './message.ts'
import type { Notice } from './plan.ts'

/** Nobody is notified when a person cancelled or refused, or while the chain continues automatically. */
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

/** null: no notification. Each run of a chain has one notice per state. */
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
