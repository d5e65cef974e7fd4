/**
 * Decides whether to resume a session or start a new one. Both the resume flag and the prompt are derived from this one
 * value, so they cannot disagree (I5). A resumed session is given nothing of the past; a new one is given all of it.
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

/** `other-agent`: the conversation was switched to an agent that has no session in it yet. */
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
