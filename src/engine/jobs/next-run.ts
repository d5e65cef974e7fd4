/** The run with which a job goes on: the same request and prompt, in the session of the run before it. */
import { RunId } from '../../contract/ids.ts'
import { isRaised } from '../../core/job/budget.ts'
import type { JobRecord, NewRun, RunRecord } from '../../store/base/records.ts'
import { readAllowance } from '../accounting/allowance.ts'
import type { EngineParts } from '../parts.ts'
import { turnLimitsOf } from '../path/turn-limits.ts'

type Parts = Pick<EngineParts, 'store' | 'clock'>

export async function nextRun(
  { store, clock }: Parts,
  job: JobRecord,
  resume: boolean,
  /** Instead of the limit it ran into. */
  maxTurns?: number | undefined,
): Promise<{ after: RunId; run: NewRun }> {
  const last = await store.getRun(job.runId)
  if (!last) throw new Error(`job ${job.id} has no run`)
  const { forceFreshSession } = last.request
  const now = clock.now()
  return {
    after: last.id,
    run: {
      id: RunId.create(now),
      idempotencyKey: null,
      agent: last.agent,
      model: last.model,
      workDir: last.workDir,
      prompt: last.prompt,
      promptId: last.promptId,
      // A session that was to be left alone is still to be, if nothing has begun since.
      request: {
        ...last.request,
        ...(maxTurns === undefined ? {} : raised(last.request, maxTurns)),
        forceFreshSession: !resume || (forceFreshSession && last.attemptCount === 0),
      },
      sessionId: last.sessionId,
      job: {
        id: job.id,
        priority: job.priority,
        place: last.place ?? last.workDir,
        holdsPlace: holdsPlace(job.options),
      },
      createdAt: now,
    },
  }
}

/** One that goes on by itself may take as many times as many as before. */
function raised({ maxTurns: before, turnsInAll }: RunRecord['request'], maxTurns: number) {
  if (turnsInAll === undefined || before === null) return turnLimitsOf({ maxTurns })
  const maxTurnsTotal = Math.max(turnsInAll, Math.ceil((turnsInAll / before) * maxTurns))
  return turnLimitsOf({ maxTurns, continue: true, maxTurnsTotal })
}

/** What others did there meanwhile would be undone. */
export const holdsPlace = ({ checkpoints }: Pick<JobRecord['options'], 'checkpoints'>) =>
  checkpoints?.onChange === 'restore'

/** A budget may have been raised in the very moment in which it was found to be used up. */
export async function goOnIfAffordable(parts: Parts, job: JobRecord): Promise<boolean> {
  if (job.attention !== 'budget') return false
  const { after, run } = await nextRun(parts, job, true)
  const last = await parts.store.getRun(after)
  const allowance = last && (await readAllowance(parts.store, last))
  if (allowance && !isRaised(allowance.budget, allowance.before)) return false
  return (await parts.store.continueJob(job.id, after, run, parts.clock.now())) !== null
}
