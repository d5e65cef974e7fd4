/** A job as the outside sees it: its own row, and what all its runs add up to. */
import type { Checkpoint } from '../../contract/checkpoint.ts'
import type { Job, JobProgress, JobSpent } from '../../contract/job.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import { addUsage, sumCosts } from '../../core/cost/usage.ts'
import type { CheckpointRecord, JobRecord } from '../../store/jobs/records.ts'
import type { QuestionRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, SpendOfRun } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import { spentBy } from '../accounting/allowance.ts'
import type { Reading } from '../accounting/meter.ts'

export interface JobFacts {
  job: JobRecord
  /** Oldest first, at least one. */
  runs: readonly RunRecord[]
  session: SessionRecord | null
  pending: readonly QuestionRecord[]
  /** The meter reading of the running attempt. */
  live: Reading | null
  /** Why its run is queued; null if it is not, or starts at any moment. */
  why: string | null
  /** All stored spend that counts against its budget. */
  spends: readonly SpendOfRun[]
  maxResumes: number
  now: Date
}

export function describeJob(facts: JobFacts): Job {
  const { job, runs, session, pending, live, maxResumes, why, now } = facts
  const run = runs.find(({ id }) => id === job.runId) ?? runs.at(-1)
  if (!run) throw new Error(`job ${job.id} has no run`)
  const { state } = run
  // A run without attempts has no known cost, but it cost nothing.
  const attempted = runs.filter(({ attemptCount }) => attemptCount > 0).map(({ spend }) => spend)
  const startedAt = runs.find((r) => r.startedAt !== null)?.startedAt ?? null
  const endedAt = state.at === 'settled' ? state.endedAt : null
  const waitingUntil = job.state === 'waiting' && state.at === 'queued' ? state.notBefore : null
  const isAsking = job.state === 'running' && pending.length > 0
  return {
    id: job.id,
    state: job.state,
    attention: isAsking ? 'question' : job.attention,
    message: state.at === 'settled' ? state.outcome.message : why,
    waitingUntil: waitingUntil?.toISOString() ?? null,
    agent: run.agent,
    model: run.model,
    workDir: run.workDir,
    prompt: run.prompt,
    permissions: run.request.permissions,
    priority: job.priority,
    runId: run.id,
    outcome: state.at === 'settled' ? state.outcome.name : null,
    resultText: run.resultText,
    sessionId: session?.agentSessionId ?? null,
    sessionSavedAt: session?.createdAt.toISOString() ?? null,
    session: session?.id ?? null,
    attemptCount: sum(runs, (r) => r.attemptCount),
    resumeCount: sum(runs, (r) => r.resumeCount),
    timeoutMs: run.request.maxDurationMs,
    maxResumes: run.request.maxResumes ?? maxResumes,
    maxTurns: run.request.maxTurns,
    maxTurnsTotal: run.request.turnsInAll ?? null,
    maxBudgetUsd: job.maxBudgetUsd,
    maxBudgetTokens: job.maxBudgetTokens,
    usage: runs.reduce((total, r) => addUsage(total, r.spend.usage), NO_USAGE),
    costUsd: sumCosts(attempted),
    costEstimated: runs.some((r) => r.spend.estimated),
    spent: spentOf(facts, attempted),
    progress: progressOf(
      runs,
      attempted,
      live,
      (startedAt && (endedAt ?? now).getTime() - startedAt.getTime()) ?? null,
    ),
    checkpointPolicy: job.options.checkpoints,
    createdAt: job.createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
  }
}

function spentOf({ runs, spends, live }: JobFacts, attempted: readonly RunRecord['spend'][]): JobSpent {
  const own = new Set(runs.map(({ id }) => id))
  const followUps = spends.filter(({ runId }) => !own.has(runId))
  const { usd, tokens } = spentBy([...attempted, ...followUps])
  return {
    usd: usd + (live?.costUsd ?? 0),
    tokens: tokens + (live?.tokens ?? 0),
    followUpRuns: followUps.length,
  }
}

function progressOf(
  runs: readonly RunRecord[],
  attempted: readonly RunRecord['spend'][],
  live: Reading | null,
  elapsedMs: number | null,
): JobProgress {
  const spent = spentBy(attempted)
  const before = sumCosts(attempted)
  const settled = runs.flatMap(({ state }) => (state.at === 'settled' ? [state.endedAt] : []))
  const lastActivityAt = live?.lastActivityAt ?? settled.at(-1) ?? null
  return {
    modelCalls: sum(runs, (run) => run.done.modelCalls) + (live?.modelCalls ?? 0),
    toolCalls: sum(runs, (run) => run.done.toolCalls) + (live?.toolCalls ?? 0),
    tokens: spent.tokens + (live?.tokens ?? 0),
    costUsd: before === null || live?.costUsd === null ? null : before + (live?.costUsd ?? 0),
    elapsedMs,
    lastActivityAt: lastActivityAt?.toISOString() ?? null,
    tool: live?.tool ?? null,
  }
}

const sum = (runs: readonly RunRecord[], of: (run: RunRecord) => number) =>
  runs.reduce((total, run) => total + of(run), 0)

export function describeCheckpoint(checkpoint: CheckpointRecord): Checkpoint {
  const { jobId: _, tree: __, position, createdAt, ...rest } = checkpoint
  return { ...rest, session: position?.sessionId ?? null, createdAt: createdAt.toISOString() }
}
