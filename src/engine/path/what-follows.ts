/** Step 7 of the path: gathers what the decision about the next attempt depends on. The decision itself is `decideNext`. */
import type { Outcome } from '../../contract/outcome.ts'
import type { Clock } from '../../core/clock.ts'
import { countInterruptions, decideNext, type Next } from '../../core/continue/decide.ts'
import { turnsLeft } from '../../core/continue/turns.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { RunSpend } from '../../store/runs/records.ts'
import { wasRaised } from '../accounting/allowance.ts'
import type { RunPurpose } from '../base/purpose.ts'
import type { JobSettings } from '../base/settings.ts'
import type { Obstacles } from '../obstacles/obstacles.ts'
import { countWithoutProgress, joinedProcess, progressedIn, type Trace } from './trace.ts'

export interface WhatFollowsDeps {
  obstacles: Pick<Obstacles, 'meet'>
  clock: Clock
  /** In [0, 1). */
  random: () => number
  settings: { resume: ResumeLimits; jobs: Pick<JobSettings, 'backoffMs'> }
}

interface Decided {
  next: Next
  interruptions: number
  /** The obstacle that the run waits for. */
  heldBy: string | null
}

export async function decideWhatFollows(
  deps: WhatFollowsDeps,
  purpose: RunPurpose,
  trace: Trace,
  outcome: Outcome,
  spend: RunSpend,
): Promise<Decided> {
  const { settings, clock, obstacles } = deps
  const { run, attempt, attempts, outdated } = trace
  const { unattended, afterLongWait } = purpose
  const progressed = progressedIn(trace)
  const hasProgressed = progressed.has(attempt.id)
  // The process had ended before the turn was given to it. A new one is given the same prompt.
  const neverReached = outcome.name === 'crashed' && joinedProcess(attempt) && !trace.tookPrompt
  const interruptions =
    outdated || neverReached
      ? 0
      : countInterruptions(outcome, { unattended, resumed: attempt.resumed, progressed: hasProgressed })
  const withoutProgress = countWithoutProgress(trace, progressed, clock.now())
  const wait = await obstacles.meet({ run, attempt, outcome, afterLongWait, ...withoutProgress })
  const outcomes = [...attempts.filter((a) => a.id !== attempt.id).map((a) => a.outcome), outcome]
  const count = (name: Outcome['name']) => outcomes.filter((one) => one?.name === name).length
  const decided = decideNext({
    outcome,
    kind: attempt.kind,
    resumed: attempt.resumed,
    cancelRequested: run.cancelRequested,
    outdated,
    unattended,
    interruptions: run.interruptions + interruptions,
    wait,
    overflows: count('context-overflow'),
    turnsLeft: turnsLeft(run.request, count('turn-limit')),
    attempts: attempt.number,
    maxResumes: run.request.maxResumes ?? settings.resume.maxResumes,
    backoffMs: settings.jobs.backoffMs,
    jitter: deps.random(),
  })
  const mayContinue = outcome.name === 'budget' && hasProgressed && !run.cancelRequested
  const raised =
    mayContinue &&
    wasRaised(run, spend, await purpose.readAllowance(run), { canBeRaised: purpose.raisableBudget })
  const next: Next = raised ? { kind: 'retry', afterMs: 0, why: 'the budget was raised' } : decided
  return { next, interruptions, heldBy: wait?.heldBy ?? null }
}
