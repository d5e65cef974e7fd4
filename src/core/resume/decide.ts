/**
 * Resume or start fresh: the one value from which both the resume flag and the text that is sent are derived, so
 * that they cannot disagree (I5). A resumed session is given nothing of the past; a fresh one is given all there is.
 */
import type { Carry, FreshReason } from '../../contract/run.ts'
import type { Past, Pin, ResumeFacts } from './facts.ts'
import { GUARDS } from './guards.ts'

export type ResumeDecision =
  | { kind: 'resume'; agentSessionId: string; carry: 'none' }
  | { kind: 'fresh'; reason: FreshReason; carry: Carry }

export function decideResume(facts: ResumeFacts, now: Date): ResumeDecision {
  const { pin } = facts
  if (pin === null) return fresh(reasonWithoutPin(facts), facts.past)
  const pinned: ResumeFacts & { pin: Pin } = { ...facts, pin }
  const guard = GUARDS.find((g) => g.refuses(pinned, now))
  return guard
    ? fresh(guard.reason, facts.past)
    : { kind: 'resume', agentSessionId: pin.agentSessionId, carry: 'none' }
}

/** An agent that comes into a conversation of others has no session yet because it was switched to. */
function reasonWithoutPin({ forceFresh, past }: ResumeFacts): FreshReason {
  if (forceFresh) return 'forced'
  return past.otherAgent ? 'other-agent' : 'first-run'
}

function fresh(reason: FreshReason, past: Past): ResumeDecision {
  return {
    kind: 'fresh',
    reason,
    carry: past.unfinishedWork ? 'handoff' : past.turns ? 'transcript' : 'none',
  }
}
