/** Builds the run with which a job continues: the same request and prompt, in the session of the previous run. */
import type { RunId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { isRaised } from '../../core/job/budget.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { type AllowanceStore, payerOf, readPayersAllowance } from '../accounting/allowance.ts'
import { buildRun } from '../path/build-run.ts'
import { turnLimitsOf } from '../path/turn-limits.ts'

export interface ContinueDeps {
  store: AllowanceStore & Pick<Store, 'continueJob'>
  clock: Clock
}

export async function nextRun(
  { store, clock }: ContinueDeps,
  job: JobRecord,
  resume: boolean,
  /** Replaces the turn limit of the previous run. */
  maxTurns?: number | undefined,
): Promise<{ after: RunId; run: NewRun }> {
  const last = await store.getRun(job.runId)
  if (!last) throw new Error(`job ${job.id} has no run`)
  const { forceFreshSession } = last.request
  const rewound = job.rewound?.after === last.id ? job.rewound : null
  const now = clock.now()
  return {
    after: last.id,
    run: buildRun({
      agent: last.agent,
      model: last.model,
      workDir: job.options.workDir ?? last.workDir,
      prompt: last.prompt,
      promptId: last.promptId,
      // The wish for a new session remains in effect until an attempt has started.
      request: {
        ...last.request,
        ...(maxTurns === undefined ? {} : raised(last.request, maxTurns)),
        forceFreshSession: !resume || (!rewound && forceFreshSession && last.attemptCount === 0),
      },
      sessionId: rewound ? rewound.sessionId : last.sessionId,
      job: {
        id: job.id,
        priority: job.priority,
        place: placeOf(job, last),
        holdsPlace: holdsPlace(job.options),
      },
      createdAt: now,
    }),
  }
}

/** The directory whose number of concurrent jobs is limited. */
const placeOf = ({ options: { workDir, workTree } }: JobRecord, last: RunRecord) =>
  workDir === undefined ? (last.place ?? last.workDir) : (workTree ?? workDir)

/** A job that continues by itself keeps the ratio between its total limit and the limit per attempt. */
function raised({ maxTurns: before, turnsInAll }: RunRecord['request'], maxTurns: number) {
  if (turnsInAll === undefined || before === null) return turnLimitsOf({ maxTurns })
  const maxTurnsTotal = Math.max(turnsInAll, Math.ceil((turnsInAll / before) * maxTurns))
  return turnLimitsOf({ maxTurns, continue: true, maxTurnsTotal })
}

/** A job that restores its work tree needs the place for itself: it would undo the work of others. */
export const holdsPlace = ({ checkpoints }: Pick<JobRecord['options'], 'checkpoints'>) =>
  checkpoints?.onChange === 'restore'

/** Continues a job that is paused because of its budget, if there is something left to spend now. */
export async function continueIfAffordable(deps: ContinueDeps, job: JobRecord): Promise<boolean> {
  if (job.attention !== 'budget') return false
  const { after, run } = await nextRun(deps, job, true)
  const last = await deps.store.getRun(after)
  const allowance = last && (await readPayersAllowance(deps.store, payerOf(last)))
  if (allowance && !isRaised(allowance.budget, allowance.before)) return false
  return (await deps.store.continueJob(job.id, after, run, deps.clock.now())) !== null
}
