/** Invariants of jobs after a round, beyond those of each of their runs. */
import type { JobDetail } from '../../src/contract/job.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'
import { jobStateOf } from '../../src/core/job/state.ts'
import type { AdmittedJob, Round } from './admitted.ts'
import { type Kills, mayQuarantine } from './killer.ts'
import { isTask, resultOf } from './scenario.ts'
import type { Settled, Tell } from './settled.ts'

export interface SettledJob {
  entry: AdmittedJob
  job: JobDetail
  /** Its runs, oldest first. */
  runs: readonly Settled[]
}

export function checkJob(settled: SettledJob, { faults, kills }: Round, tell: Tell): void {
  const { tag, id } = settled.entry
  const say: Tell = (violation) => tell(`${tag} (${id}): ${violation}`)
  checkEnd(settled, say)
  checkRuns(settled, say)
  checkAttempts(settled, kills, say)
  checkSums(settled, say)
  checkSessions(settled, say)
  // The times of events do not follow a clock that is set back.
  if (faults.clockBack === 0) checkSaved(settled, say)
}

/** I1: the job ended as planned, or for a known reason. */
function checkEnd({ entry, job }: SettledJob, say: Tell): void {
  if (job.state === 'completed') {
    if (!job.resultText?.includes(resultOf(entry.tag)))
      say(`completed with ${JSON.stringify(job.resultText)}`)
    return
  }
  if (job.state === 'cancelled' && entry.cancelled) return
  if (job.state !== 'failed') {
    say(`is ${job.state} (${job.attention ?? ''}): ${job.message}`)
    return
  }
  // An interruption counts one, or two if the attempt made no progress.
  const own = job.attempts.filter(({ runId }) => runId === job.runId)
  const interruptions = own.filter(({ outcome }) => outcome && INTERRUPTIONS.includes(outcome.name)).length
  if (2 * interruptions <= job.maxResumes || !job.message?.includes('gave up after')) {
    say(`failed after ${interruptions} interruptions of ${job.maxResumes} allowed: ${job.message}`)
  }
}

const INTERRUPTIONS: readonly OutcomeName[] = ['crashed', 'timed-out']

function checkRuns({ job, runs }: SettledJob, say: Tell): void {
  const last = runs.at(-1)?.run
  if (job.runId !== job.runIds.at(-1)) say(`its run is ${job.runId}, its last one ${job.runIds.at(-1)}`)
  if (!last?.outcome) {
    say(`its run ${last?.id} is ${last?.state}`)
    return
  }
  const { state, attention } = jobStateOf({ at: 'settled', outcome: last.outcome })
  if (state !== job.state || attention !== job.attention)
    say(`is ${job.state} (${job.attention}), its run ended as ${last.outcome}`)
  for (const { run } of runs) if (run.jobId !== job.id) say(`its run ${run.id} is of job ${run.jobId}`)
  for (const { run } of runs.slice(0, -1)) {
    if (run.outcome === 'completed') say(`its run ${run.id} completed, but another run followed it`)
  }
}

function checkAttempts({ entry: { tag, work }, job, runs }: SettledJob, kills: Kills, say: Tell): void {
  const allowed: OutcomeName[] = ['completed', 'crashed']
  if (mayQuarantine(kills)) allowed.push('quarantined')
  if (work.timeoutMs !== null) allowed.push('timed-out')
  if (work.maxBudgetTokens !== null) allowed.push('budget')
  if (work.cancelAfterMs !== null) allowed.push('cancelled')
  if (isTask(tag, 'limit')) allowed.push('rate-limited')
  if (isTask(tag, 'fail') || isTask(tag, 'cut')) allowed.push('outage')
  for (const { id, state, outcome } of job.attempts) {
    if (state !== 'ended' || !outcome) say(`attempt ${id} is ${state}`)
    else if (!allowed.includes(outcome.name))
      say(`attempt ${id} ended as ${outcome.name}: ${outcome.message}`)
  }
  const known = runs.flatMap(({ run }) => run.attempts.map(({ id }) => id))
  if (job.attempts.map(({ id }) => id).join() !== known.join()) say('its attempts are not those of its runs')
}

/** I7: the job's spending and work are the sums over its runs and attempts. */
function checkSums({ job, runs }: SettledJob, say: Tell): void {
  const resumed = job.attempts.filter((attempt) => attempt.resumed).length
  if (job.attemptCount !== job.attempts.length || job.resumeCount !== resumed)
    say(
      `counts ${job.attemptCount} attempts, ${job.resumeCount} resumed; it has ${job.attempts.length}, ${resumed} resumed`,
    )
  for (const kind of ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const) {
    const sum = runs.reduce((total, { run }) => total + run.usage[kind], 0)
    if (job.usage[kind] !== sum) say(`counts ${job.usage[kind]} ${kind}, its runs ${sum}`)
  }
  const cost = runs.reduce((total, { run }) => total + (run.costUsd ?? 0), 0)
  if (job.costUsd !== null && Math.abs(job.costUsd - cost) > 1e-9)
    say(`cost ${job.costUsd}, its runs together ${cost}`)
}

/** The session is the one that the agent used. */
function checkSessions({ runs }: SettledJob, say: Tell): void {
  for (const { run, events } of runs) {
    for (const attempt of run.attempts) {
      const own = events.filter((event) => event.attemptId === attempt.id)
      const [first] = own
      if (first?.type !== 'attempt-start' || first.agentSessionId !== attempt.agentSessionId)
        say(`attempt ${attempt.id} begins with ${first?.type}, not with its session`)
      for (const event of own) {
        if (event.type === 'session-start' && event.agentSessionId !== attempt.agentSessionId)
          say(
            `attempt ${attempt.id} was given session ${attempt.agentSessionId}, used ${event.agentSessionId}`,
          )
      }
    }
  }
}

/** The session's id was stored before the agent could print anything. */
function checkSaved({ job, runs }: SettledJob, say: Tell): void {
  const starts = runs.flatMap(({ events }) => events).filter((event) => event.type === 'session-start')
  const spoke = starts.find((event) => event.agentSessionId === job.sessionId)
  if (spoke && !(job.sessionSavedAt && job.sessionSavedAt <= spoke.at))
    say(`its session was saved at ${job.sessionSavedAt}, the agent first printed at ${spoke.at}`)
}
