/**
 * The guards of the resume decision. Each one names a reason why the session must not be resumed; the first one that
 * refuses decides. The order matters only for the reported reason: a cause that a person can act on comes before its
 * symptoms.
 */
import type { FreshReason } from '../../contract/run.ts'
import type { Pin, ResumeFacts } from './facts.ts'
import { isSamePlace } from './place.ts'
import { findRuntimeChange } from './runtime.ts'

export interface Guard {
  reason: FreshReason
  refuses: (facts: ResumeFacts & { pin: Pin }, now: Date) => boolean
}

export const GUARDS: readonly Guard[] = [
  { reason: 'no-resume-capability', refuses: (f) => !f.canResume },
  { reason: 'forced', refuses: (f) => f.forceFresh },
  { reason: 'other-agent', refuses: (f) => f.pin.agent !== f.agent },
  { reason: 'refused', refuses: (f) => f.pin.poison?.refused === true },
  { reason: 'poisoned', refuses: (f) => f.pin.poison !== null },
  { reason: 'no-prior-turn', refuses: (f) => f.pin.turns === 0 },
  { reason: 'history-changed', refuses: (f) => f.pin.epoch !== f.epoch },
  { reason: 'other-work-dir', refuses: (f) => !isSamePlace(f.pin, f) },
  { reason: 'other-runtime', refuses: (f) => findRuntimeChange(f.pin.runtime, f.runtime) !== null },
  { reason: 'expired', refuses: (f, now) => now.getTime() - f.pin.lastUsedAt.getTime() > f.limits.maxAgeMs },
  // The last attempt uses a new session, because the session itself may be what crashes the agent.
  { reason: 'too-many-resumes', refuses: (f) => f.resumesUsed >= Math.max(2, f.limits.maxResumes) },
  { reason: 'context-full', refuses: (f) => f.pin.full || fillOf(f.pin) > f.limits.contextThreshold },
  { reason: 'transcript-missing', refuses: (f) => f.pin.transcript === 'missing' },
  { reason: 'transcript-unreadable', refuses: (f) => f.pin.transcript === 'unreadable' },
  { reason: 'transcript-foreign', refuses: (f) => f.pin.transcript === 'foreign' },
  { reason: 'transcript-behind', refuses: (f) => f.pin.transcript === 'behind' },
  { reason: 'transcript-broken', refuses: (f) => f.pin.transcript === 'broken' },
  { reason: 'transcript-forked', refuses: (f) => f.pin.transcript === 'forked' },
  { reason: 'session-leased', refuses: (f) => f.pin.holder?.kind === 'lease' },
  { reason: 'session-in-use', refuses: (f) => f.pin.holder?.kind === 'process' },
]

/** An unknown fill counts as empty: if the session is full, the agent reports an overflow, which is handled. */
function fillOf(pin: Pin): number {
  return pin.contextTokens === null || !pin.contextWindow ? 0 : pin.contextTokens / pin.contextWindow
}
