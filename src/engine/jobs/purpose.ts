/** A job: unattended, with a budget that may be raised and checkpoints of its work tree. */
import type { Store } from '../../store/store.ts'
import type { RunPurpose } from '../base/purpose.ts'
import { type ContextDeps, readSessionContext } from '../path/context.ts'
import type { Checkpoints } from './checkpoints.ts'
import { type ContinueDeps, continueIfAffordable } from './next-run.ts'
import { readEndNotices, type TellDeps, tellOfQuestion } from './tell.ts'

export type JobPurposeDeps = ContextDeps &
  TellDeps &
  ContinueDeps & {
    store: Pick<Store, 'listRunsOfJobs' | 'getJob' | 'effects'>
    checkpoints: Pick<Checkpoints, 'beforeAttempt' | 'every' | 'keepWork'>
  }

export function createJobPurpose(deps: JobPurposeDeps, plain: RunPurpose): RunPurpose {
  const { store, checkpoints } = deps
  return {
    ...plain,
    name: 'job',
    claims: ({ links }) => links.jobId !== null,
    unattended: true,
    afterLongWait: 'settle',

    // The earlier runs of a job worked on the same task, so they are not earlier turns.
    readContext: async (run) => {
      const { jobId } = run.links
      const job = jobId && (await store.getJob(jobId))
      const runs = jobId === null ? [run] : await store.listRunsOfJobs([jobId])
      // After a rewind the agent knows what its fork has, and not what was undone.
      const after = job ? job.rewound?.after : undefined
      const sameTask = after === undefined ? runs : runs.filter(({ id }) => id > after)
      return readSessionContext(deps, run, { sameTask })
    },

    raisableBudget: true,

    beforeAttempt: (run) => checkpoints.beforeAttempt(run),
    duringAttempt: (run, attempt) => checkpoints.every(run, attempt.id),
    afterAttempt: async (run, { attempt, tookPrompt, goneSince }) => {
      // An agent that did not accept its prompt does not know which files others have changed.
      const problem = tookPrompt ? await checkpoints.keepWork(run, attempt.id, goneSince) : null
      return problem === null ? [] : [problem]
    },

    readEnding: async ({ run, settled }) =>
      settled ? [store.effects.notify(await readEndNotices(deps, run, settled))] : [],
    // The budget may have been raised just when it was found to be used up.
    afterSettled: async ({ links }, outcome) => {
      const job = outcome.name === 'budget' && links.jobId ? await store.getJob(links.jobId) : null
      if (job) await continueIfAffordable(deps, job)
    },

    tellOfQuestion: (run, ask) => tellOfQuestion(deps, run, ask),
  }
}
