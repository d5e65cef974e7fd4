/**
 * Checks the invariants after a round, whatever was killed. Every violation is reported; none stops the other checks.
 *
 * These ends and figures are accepted because they are what Reprise promises:
 * - `quarantined`, if the daemon was killed at least twice: a run of which it died twice is held until a person continues it.
 * - `outage`, only of attempts whose model fails or cuts off its answers.
 * - Too few tokens, only of an attempt with a `gap` for a full disk: the agent's report is among what was lost, and the run
 *   says so. Too many are never accepted.
 * - A task at a tier twice in one request: the next tier resumes the session, and its handoff names the task.
 * - Giving up at a tier, or in a job, after fewer crashes than `maxResumes`: an attempt without progress counts two. The
 *   check counts each of them as two, so it would not notice a run that gives up too early although it had progressed.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../../src/contract/http.ts'
import { getJob } from '../../test/support/jobs.ts'
import { until, type World } from '../../test/support/world.ts'
import type { Admitted, Round } from './admitted.ts'
import { checkJob, type SettledJob } from './check-jobs.ts'
import { checkMoney, checkRequests } from './check-model.ts'
import { checkDatabase, checkSpool, isOwn, readRanges } from './check-store.ts'
import { mayQuarantine } from './killer.ts'
import { isTask, resultOf, writesLine } from './scenario.ts'
import type { Settled, Tell } from './settled.ts'
import { MAX_RESUMES, notesOf } from './work.ts'

export interface RoundReport {
  /** Includes the runs of jobs. */
  runs: number
  jobs: number
  turns: number
  /** Turns that a kept process took. */
  keptTurns: number
  chains: number
  followUps: number
  /** Messages for agents at work. */
  messages: number
  jobStates: Record<string, number>
  attempts: number
  outcomes: Record<string, number>
  attemptOutcomes: Record<string, number>
  /** Why attempts after a run's first one used a new session. */
  freshAgain: Record<string, number>
  resumedAttempts: number
  modelRequests: number
  /** Requests that the model failed at, or whose answer it cut off. */
  modelFaults: number
  /** Prompts that a session was given again, because it had not recorded them when its process was killed. */
  promptsRepeated: number
  violations: string[]
}

/** Longer than processes are kept. */
const ENDED_WITHIN_MS = 60_000

export async function checkRound(round: Round): Promise<RoundReport> {
  const { world } = round
  const violations: string[] = []
  const tell: Tell = (violation) => violations.push(violation)
  for (const violation of round.seen) tell(violation)

  const settled: Settled[] = []
  for (const entry of round.admitted) {
    const runs = await readChain(world, entry)
    for (const one of runs) checkRun(entry, one, round, tell)
    if (isTask(entry.tag, 'chain')) checkChain(entry, runs, tell)
    settled.push(...runs)
  }
  const jobs: SettledJob[] = []
  for (const entry of round.jobs) {
    const job = await getJob(world, entry.id)
    const runs: Settled[] = []
    for (const id of job.runIds) runs.push(await readRun(world, entry.tag, id))
    checkJob({ entry, job, runs }, round, tell)
    jobs.push({ entry, job, runs })
    settled.push(...runs)
  }
  await checkListed(
    world,
    '/api/runs',
    settled.map(({ run }) => run.id),
    tell,
  )
  await checkListed(
    world,
    '/api/jobs',
    round.jobs.map(({ id }) => id),
    tell,
  )
  for (const one of settled) checkEvents(one, tell)
  checkNotes(round, settled, tell)
  const requests = world.simulator.requests()
  const promptsRepeated = checkRequests(requests, settled, round.clock, tell)
  checkMoney(requests, settled, round.clock, tell)

  // Kept processes end by themselves, while the daemon is there.
  await until(() => world.processes().length === 0, 'processes to end', ENDED_WITHIN_MS).catch(() => {
    for (const { pid, command } of world.processes()) tell(`left running: ${pid} ${command.slice(0, 200)}`)
  })
  await world.killDaemon('SIGTERM')
  checkDatabase(join(world.home, 'reprise.db'), settled, tell)
  const ranges = readRanges(join(world.home, 'reprise.db'))
  for (const one of settled) checkSpool(join(world.home, 'spool'), ranges, one, tell)

  const attempts = settled.flatMap(({ run }) => run.attempts)
  checkCrashes(round, settled, tell)
  const again = attempts.filter((attempt) => attempt.number > 1)
  return {
    runs: settled.length,
    jobs: jobs.length,
    turns: settled.filter(({ run }) => run.conversationId !== null).length,
    keptTurns: ranges.filter(({ from }) => from > 0).length,
    chains: settled.filter(({ run }) => run.tier === 1).length,
    followUps: round.followUps.length,
    messages: round.messages.size,
    jobStates: countBy(jobs.map(({ job }) => job.state)),
    attempts: attempts.length,
    outcomes: countBy(settled.map(({ run }) => run.outcome ?? 'none')),
    attemptOutcomes: countBy(attempts.map(({ outcome }) => outcome?.name ?? 'none')),
    freshAgain: countBy(again.flatMap((attempt) => attempt.freshReason ?? [])),
    resumedAttempts: again.filter((attempt) => attempt.resumed).length,
    modelRequests: requests.length,
    modelFaults: requests.filter(({ outcome }) => outcome === 'failed' || outcome === 'cut').length,
    promptsRepeated,
    violations,
  }
}

/** An attempt crashes only because something of it was killed, or because its agent could not be started. */
function checkCrashes({ kills }: Round, settled: readonly Settled[], tell: Tell): void {
  if (kills.agent + kills.keeper + kills.feeder + kills.group > 0) return
  for (const { tag, run, events } of settled)
    for (const { id, outcome } of run.attempts)
      if (outcome?.name === 'crashed' && events.some((event) => event.attemptId === id && !isOwn(event)))
        tell(`${tag} (${run.id}): attempt ${id} crashed, but nothing was killed: ${outcome.message}`)
}

async function readRun(world: World, tag: string, id: string): Promise<Settled> {
  return { tag, run: await world.getRun(id), events: await world.events(id) }
}

/** The run, and those at the next tiers. */
async function readChain(world: World, { tag, id }: Admitted): Promise<Settled[]> {
  const runs: Settled[] = []
  for (let next: string | null = id; next !== null; next = runs.at(-1)?.run.escalation?.nextRunId ?? null)
    runs.push(await readRun(world, tag, next))
  return runs
}

/** A tier that completed has called for the next one, once. */
function checkChain({ tag, cancelled }: Admitted, runs: readonly Settled[], tell: Tell): void {
  const tiers = runs.map(({ run }) => run.tier).join()
  const [first] = runs
  const expected = first?.run.outcome === 'completed' && !cancelled ? ['1,2'] : ['1', '1,2']
  if (!expected.includes(tiers)) tell(`${tag} (${first?.run.id}): its chain has the tiers ${tiers}`)
  for (const { run } of runs)
    if (run.escalation === null) tell(`${tag} (${run.id}): nothing was decided after tier ${run.tier}`)
}

/** I1: what was admitted exists once, and nothing else does. */
async function checkListed(
  world: World,
  path: string,
  admitted: readonly string[],
  tell: Tell,
): Promise<void> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${cursor}` : ''
    const page: Page<{ id: string }> = await world.api('GET', `${path}?limit=200${query}`)
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  }
  const known = new Set(admitted)
  if (known.size !== admitted.length) tell(`${path}: two idempotency keys got the same id`)
  for (const id of ids) if (!known.delete(id)) tell(`${id} was never requested, or is listed twice`)
  for (const id of known) tell(`${id} was admitted and does not exist`)
}

function checkRun({ cancelled }: Admitted, { tag, run }: Settled, { kills }: Round, tell: Tell): void {
  const where = `${tag} (${run.id})`
  if (run.state !== 'settled') tell(`${where} is ${run.state}`)
  const held = mayQuarantine(kills) ? ['quarantined'] : []
  const expected = ['completed', 'crashed', ...held, ...(cancelled ? ['cancelled'] : [])]
  if (!expected.includes(run.outcome ?? '')) tell(`${where} ended as ${run.outcome}: ${run.message}`)
  const isChain = isTask(tag, 'chain')
  if (run.outcome === 'completed' && !isChain && !run.resultText?.includes(resultOf(tag))) {
    tell(`${where} completed with ${JSON.stringify(run.resultText)}`)
  }
  // The limit on attempts is the only reason to give up, and only being killed counts against it. At a tier an attempt
  // without progress counts two.
  const crashes = run.attempts.filter((attempt) => attempt.outcome?.name === 'crashed').length
  if (run.outcome === 'crashed' && crashes * (isChain ? 2 : 1) <= MAX_RESUMES) {
    tell(`${where} gave up after ${crashes} crashes: ${run.message}`)
  }
  const allowed = ['completed', 'crashed', 'cancelled', ...held]
  for (const attempt of run.attempts) {
    if (attempt.state !== 'ended' || !attempt.outcome)
      tell(`${where}: attempt ${attempt.id} is ${attempt.state}`)
    else if (!allowed.includes(attempt.outcome.name)) {
      tell(`${where}: attempt ${attempt.id} ended as ${attempt.outcome.name}: ${attempt.outcome.message}`)
    }
  }
}

function checkEvents({ tag, run, events }: Settled, tell: Tell): void {
  const where = `${tag} (${run.id})`
  const hole = events.findIndex((event, index) => event.seq !== index + 1)
  if (hole !== -1) tell(`${where}: event ${hole + 1} has the number ${events[hole]?.seq}`)
  const ends = events.filter((event) => event.type === 'run-end').length
  if (ends !== 1 || events.at(-1)?.type !== 'run-end') {
    tell(`${where}: ${ends} run-end events, the last event is ${events.at(-1)?.type}`)
  }
  for (const type of ['tool-start', 'tool-end'] as const) {
    const ids = events.flatMap((event) => (event.type === type ? [event.toolUseId] : []))
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
    if (twice.length > 0) tell(`${where}: more than one ${type} of ${[...new Set(twice)].join(', ')}`)
  }
  const starts = events.filter((event) => event.type === 'attempt-start').length
  const attemptEnds = events.filter((event) => event.type === 'attempt-end').length
  if (starts !== run.attempts.length || attemptEnds !== run.attempts.length) {
    tell(`${where}: ${run.attempts.length} attempts, ${starts} attempt-start, ${attemptEnds} attempt-end`)
  }
}

/** Finished work was done exactly once, unfinished work at most once. */
function checkNotes({ world }: Round, settled: readonly Settled[], tell: Tell): void {
  const lines = notesOf(world).flatMap(readNotes)
  for (const [tag, runs] of Map.groupBy(settled, (one) => one.tag)) {
    if (!writesLine(tag)) continue
    const last = runs.at(-1)?.run
    const count = lines.filter((line) => line === tag).length
    if (count > 1 || (count === 0 && last?.outcome === 'completed')) {
      tell(`${tag} (${last?.id}): ${last?.outcome}, its line was written ${count} times`)
    }
  }
}

function readNotes(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
