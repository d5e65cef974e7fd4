/** How a run or an attempt started: in a resumed session, or in a new one and why. */
import type { Carry, FreshReason } from './run.ts'

/** Events carry reason and carry as plain text, because they may come from another version. */
interface Start {
  resumed: boolean | null
  freshReason?: string | null | undefined
  carry?: string | null | undefined
}

/** Null where a new session is what one expects. */
const REASONS: Readonly<Record<FreshReason, string | null>> = {
  'first-run': null,
  'no-prior-turn': null,
  forced: 'requested',
  'no-resume-capability': 'the agent cannot resume sessions',
  'other-agent': 'another agent has answered before',
  'history-changed': 'the history was changed',
  'other-work-dir': 'the directory is another one',
  'other-runtime': "the agent's executable is another one",
  expired: 'the session is too old',
  poisoned: 'the session is not usable',
  'too-many-resumes': 'the session was resumed too often',
  'context-full': 'the context is full',
  'transcript-missing': 'the transcript is missing',
  'transcript-unreadable': 'the transcript cannot be read',
  'transcript-foreign': 'the transcript belongs to another session',
  'transcript-behind': 'the transcript is incomplete',
  'transcript-broken': 'the transcript is damaged',
  'transcript-forked': 'the transcript has several branches',
  'session-leased': 'another run uses the session',
  'session-in-use': 'another program uses the session',
  refused: 'the agent refused to resume the session',
}

const CARRIED: Readonly<Record<Carry, string>> = {
  none: '',
  transcript: ', with the history',
  handoff: ', with a handoff summary',
}

/** Such as `resumed session`, `new session`, or `new session (the context is full), with the history`. */
export function startText({ resumed, freshReason, carry }: Start): string {
  if (resumed === null) return 'not started'
  if (resumed) return 'resumed session'
  const reason = freshReason ? reasonText(freshReason) : null
  return `new session${reason === null ? '' : ` (${reason})`}${CARRIED[carry as Carry] ?? ''}`
}

/** Null if there was nothing to resume. */
export function reasonText(reason: string): string | null {
  return reason in REASONS ? REASONS[reason as FreshReason] : reason
}
