/** Step 2 of the path: gathers the facts about the session that a run would resume, and decides. */
import type { Runtime } from '../../agents/adapter.ts'
import { factsOf } from '../../agents/registry.ts'
import { decideResume, type ResumeDecision } from '../../core/resume/decide.ts'
import type { Pin, ResumeLimits } from '../../core/resume/facts.ts'
import type { Place } from '../../core/resume/place.ts'
import { decideRoom } from '../../core/room/decide.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunContext } from '../base/purpose.ts'
import type { PinFacts } from '../sessions/pin.ts'
import { currentAttempts } from './context.ts'
import type { EarlierAttempts } from './history.ts'

export interface DecideInput {
  context: RunContext
  runtime: Runtime
  place: Place
  pinned: PinFacts | null
  earlier: EarlierAttempts
  attempts: readonly AttemptRecord[]
  contextWindow: number | null
  /** The agent can compact its session. */
  canCompact: boolean
  limits: ResumeLimits
}

export interface AttemptDecision {
  decision: ResumeDecision
  /** `compact`: the attempt only compacts the session. */
  kind: 'turn' | 'compact'
  /** The session that is resumed was compacted for this prompt. */
  roomMade: boolean
}

export function decideAttempt(input: DecideInput, now: Date): AttemptDecision {
  const { context, pinned, contextWindow, canCompact } = input
  const room = decideRoom(currentAttempts(context.run, input.attempts).map(toPastAttempt))
  const pin = pinned && {
    ...pinned.pin,
    full: room.kind === 'full' || (room.kind === 'overflowed' && !canCompact),
    contextWindow: contextWindow ?? pinned.pin.contextWindow,
  }
  const decision = decideWith(input, pin, now)
  // If the session is too full, or has overflowed, and was not compacted yet, it is compacted first, provided that it
  // could be resumed otherwise.
  const tooFull =
    canCompact &&
    (room.kind === 'overflowed' ||
      (room.kind === 'open' && decision.kind === 'fresh' && decision.reason === 'context-full'))
  const emptied = tooFull ? decideWith(input, pin && { ...pin, contextTokens: null }, now) : null
  if (emptied?.kind === 'resume') return { decision: emptied, kind: 'compact', roomMade: false }
  return { decision, kind: 'turn', roomMade: room.kind === 'made' && decision.kind === 'resume' }
}

function decideWith(
  { context, runtime, place, earlier, limits }: DecideInput,
  pin: Pin | null,
  now: Date,
): ResumeDecision {
  const { run } = context
  return decideResume(
    {
      agent: run.agent,
      runtime: factsOf(runtime),
      ...place,
      canResume: runtime.capabilities.resume,
      // A forced new session replaces the session that the caller named, not the session of this run's earlier
      // attempts.
      forceFresh: run.request.forceFreshSession && run.attemptCount === run.outdatedAttempts,
      epoch: context.epoch,
      resumesUsed: run.interruptions,
      pin,
      limits: { ...limits, maxResumes: run.request.maxResumes ?? limits.maxResumes },
      past: {
        turns: context.turns.length > 0,
        otherAgent: context.otherAgent,
        unfinishedWork:
          earlier.steps.some((step) => 'tool' in step) || earlier.saidSomething || context.continuesWork,
      },
    },
    now,
  )
}

const toPastAttempt = ({ kind, resumed, outcome }: AttemptRecord) => ({
  kind,
  resumed,
  outcome: outcome?.name ?? null,
})
