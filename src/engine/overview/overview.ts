/**
 * Answers the first questions of a person: what needs me, what is at work, what waits by itself and until when, what
 * did it cost. Every open run is in exactly one of the three lists: one that waits for an answer needs a person, also
 * while its agent runs.
 */
import { aboutTool } from '../../contract/about-tool.ts'
import type { Escalation } from '../../contract/escalation.ts'
import type { AtWork, Failure, NeedsYou, Overview, Parked } from '../../contract/overview.ts'
import type { Run } from '../../contract/run.ts'
import type { Clock } from '../../core/clock.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Reading } from '../accounting/meter.ts'
import type { JobEngine } from '../jobs/api.ts'
import type { RunEngine } from '../runs/api.ts'
import { createSubjects, firstLine, type SubjectStore } from './subjects.ts'

export interface OverviewDeps {
  store: SubjectStore &
    Pick<
      Store,
      | 'listRuns'
      | 'getRun'
      | 'getSession'
      | 'findNewestEvent'
      | 'listFollowUps'
      | 'listWatches'
      | 'listCosts'
      | 'listFailures'
    >
  clock: Clock
}

export interface OverviewHooks {
  describeRun: (run: RunRecord) => Promise<Run>
  /** Returns what the running attempt has used so far; null if that is not known. */
  readLive: (run: RunRecord) => Pick<Reading, 'costUsd' | 'contextTokens'> | null
  /** The names of agents that talk to the simulator. */
  listSimulated: () => string[]
  listApprovals: RunEngine['listApprovals']
  listJobs: JobEngine['listJobs']
  describeObstacles: RunEngine['describeObstacles']
}

const MAX_RUNNING = 200
const MAX_WAITING = 100
const MAX_FAILURES = 50
const DAY_MS = 86_400_000

type SubjectOf = ReturnType<typeof createSubjects>

export async function readOverview(
  deps: OverviewDeps,
  hooks: OverviewHooks,
  since: Date | null,
): Promise<Overview> {
  const { store, clock } = deps
  const now = clock.now()
  const from = since ?? new Date(now.getTime() - DAY_MS)
  const subjectOf = createSubjects(store)
  const running = (await store.listRuns({ state: 'running', limit: MAX_RUNNING })).items
  const described = await Promise.all(running.map(hooks.describeRun))
  const asking = described.filter(({ pending }) => pending.length > 0)
  const working = running.filter((_, index) => described[index]?.pending.length === 0)
  const [questions, approvals, jobs, paused, atWork, parked] = await Promise.all([
    Promise.all(asking.map((run) => questionsOf(run, running, subjectOf))),
    approvalsOf(deps, hooks, subjectOf),
    pausedJobs(deps, hooks, subjectOf),
    pausedRuns(deps, hooks, subjectOf),
    Promise.all(working.map((run) => atWorkOf(deps, hooks, run, subjectOf))),
    parkedOf(deps, hooks, subjectOf),
  ])
  const failed = await store.listFailures(from, MAX_FAILURES)
  return {
    at: now.toISOString(),
    simulated: hooks.listSimulated(),
    needsYou: [...questions.flat(), ...approvals, ...jobs, ...paused].sort((a, b) =>
      a.since.localeCompare(b.since),
    ),
    // In this order a new one is added at the end, and nothing that is shown moves.
    atWork: atWork.sort((a, b) => (a.startedAt ?? '~').localeCompare(b.startedAt ?? '~')),
    parked: parked.sort((a, b) => (a.until ?? '').localeCompare(b.until ?? '')),
    since: from.toISOString(),
    costs: await store.listCosts({ since: from }),
    failures: await Promise.all(failed.map((run) => failureOf(run, subjectOf))),
  }
}

async function questionsOf(
  run: Run,
  running: readonly RunRecord[],
  subjectOf: SubjectOf,
): Promise<NeedsYou[]> {
  const record = running.find(({ id }) => id === run.id)
  if (!record) return []
  const subject = await subjectOf(record)
  return run.pending.map((question) => ({
    kind: 'question' as const,
    subject,
    runId: run.id,
    agent: run.agent,
    model: run.model,
    workDir: run.workDir,
    question,
    since: question.askedAt,
  }))
}

async function approvalsOf(
  { store }: OverviewDeps,
  { listApprovals }: OverviewHooks,
  subjectOf: SubjectOf,
): Promise<NeedsYou[]> {
  const found = await Promise.all(
    (await listApprovals()).map(async (escalation: Escalation): Promise<NeedsYou[]> => {
      const run = await store.getRun(escalation.runId)
      if (!run) return []
      const { id: runId, agent, model } = run
      const since = escalation.decidedAt
      return [{ kind: 'approval', subject: await subjectOf(run), runId, agent, model, escalation, since }]
    }),
  )
  return found.flat()
}

async function pausedJobs(
  { store }: OverviewDeps,
  { listJobs }: OverviewHooks,
  subjectOf: SubjectOf,
): Promise<NeedsYou[]> {
  const { items } = await listJobs({ state: 'paused', limit: MAX_WAITING })
  return Promise.all(
    items.map(async (job): Promise<NeedsYou> => {
      const run = await store.getRun(job.runId)
      return {
        kind: 'job',
        subject: run ? await subjectOf(run) : { kind: 'job', id: job.id, title: firstLine(job.prompt) },
        runId: job.runId,
        jobId: job.id,
        agent: job.agent,
        model: job.model,
        attention: job.attention ?? 'question',
        message: job.message,
        spentUsd: job.spent.usd,
        maxBudgetUsd: job.maxBudgetUsd,
        spentTokens: job.spent.tokens,
        maxBudgetTokens: job.maxBudgetTokens,
        since: job.endedAt ?? job.createdAt,
      }
    }),
  )
}

async function pausedRuns(
  { store }: OverviewDeps,
  { describeObstacles, describeRun }: OverviewHooks,
  subjectOf: SubjectOf,
): Promise<NeedsYou[]> {
  const { paused } = await describeObstacles()
  const found = await Promise.all(
    paused.map(async (id): Promise<NeedsYou[]> => {
      const run = await store.getRun(id)
      if (!run || run.links.jobId !== null) return []
      const { agent, model, message, createdAt } = await describeRun(run)
      return [
        { kind: 'run', subject: await subjectOf(run), runId: id, agent, model, message, since: createdAt },
      ]
    }),
  )
  return found.flat()
}

async function atWorkOf(
  { store }: OverviewDeps,
  { readLive }: OverviewHooks,
  run: RunRecord,
  subjectOf: SubjectOf,
): Promise<AtWork> {
  const newest = await store.findNewestEvent(run.id, ['tool-start', 'text-end', 'thinking-end'])
  const body = newest?.body
  const live = readLive(run)
  const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
  return {
    subject: await subjectOf(run),
    runId: run.id,
    agent: run.agent,
    model: run.model,
    doing:
      body?.type === 'tool-start'
        ? firstLine(aboutTool(body))
        : body?.type === 'text-end'
          ? firstLine(body.text)
          : body
            ? 'thinking'
            : null,
    tool: body?.type === 'tool-start' ? body.name : null,
    tier: run.links.tier,
    startedAt: run.startedAt?.toISOString() ?? null,
    attempt: run.attemptCount,
    costUsd: sumOf(run.spend.costUsd, live?.costUsd ?? null),
    contextTokens: live?.contextTokens ?? run.spend.contextTokens,
    // The agent reports it at the end of a turn; until then, that of the turn before is taken.
    contextWindow: run.spend.contextWindow ?? session?.contextWindow ?? null,
  }
}

const sumOf = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : a + b)

/** Queued runs, planned follow-ups, and watches that fire by their schedule. Runs that wait behind the same limit or outage are one item. */
async function parkedOf(
  { store }: OverviewDeps,
  { describeObstacles, describeRun }: OverviewHooks,
  subjectOf: SubjectOf,
): Promise<Parked[]> {
  const { obstacles } = await describeObstacles()
  const obstacleOf = new Map(obstacles.flatMap((one) => one.waiting.map((id) => [id, one] as const)))
  const queued = (await store.listRuns({ state: 'queued', limit: MAX_WAITING })).items
  const parked: Parked[] = []
  const grouped = new Set<(typeof obstacles)[number]>()
  for (const run of queued) {
    if (run.state.at !== 'queued' || run.state.paused) continue
    const obstacle = obstacleOf.get(run.id)
    if (obstacle && grouped.has(obstacle)) continue
    if (obstacle) grouped.add(obstacle)
    const { message } = await describeRun(run)
    parked.push({
      kind: obstacle?.kind ?? (run.state.notBefore ? 'wait' : 'queue'),
      id: run.id,
      subject: await subjectOf(run),
      message,
      until: (run.state.notBefore ?? null)?.toISOString() ?? null,
      behind: obstacle ? obstacle.waitingCount - 1 : 0,
    })
  }
  const planned = (await store.listFollowUps({ state: 'planned', limit: MAX_WAITING })).items
  for (const { id, runId, sessionId, prompt, reason, dueAt } of planned) {
    const run = runId === null ? null : await store.getRun(runId)
    const title = firstLine(prompt)
    parked.push({
      kind: 'follow-up',
      id,
      subject: run
        ? await subjectOf(run)
        : sessionId
          ? { kind: 'session', id: sessionId, title }
          : { kind: 'run', id: runId ?? id, title },
      message: firstLine(reason ?? prompt),
      until: dueAt.toISOString(),
      behind: 0,
    })
  }
  for (const { id, name, definition, state, due } of await store.listWatches()) {
    if (state !== 'active' || due === null) continue
    parked.push({
      kind: 'schedule',
      id,
      subject: { kind: 'watch', id: name, title: name },
      message: firstLine(definition.prompt),
      until: due.fireAt.toISOString(),
      behind: 0,
    })
  }
  return parked
}

async function failureOf(run: RunRecord, subjectOf: SubjectOf): Promise<Failure> {
  const { state } = run
  if (state.at !== 'settled') throw new Error(`run ${run.id} has not ended`)
  return {
    subject: await subjectOf(run),
    runId: run.id,
    jobId: run.links.jobId,
    outcome: state.outcome.name,
    message: state.outcome.message,
    at: state.endedAt.toISOString(),
  }
}
