/** One round: its own world, work of every kind, kills during the work; then quiet, until everything has settled. */
import { mkdirSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import { until, World } from '../../test/support/world.ts'
import { admitJob, admitRun, countOpen, readFollowUps, readMessages } from './admit.ts'
import type { Round } from './admitted.ts'
import { read } from './ask.ts'
import { disturb, mountHome, NO_FAULTS } from './faults.ts'
import { bounceDaemon, killSomeAgent, NO_KILLS } from './killer.ts'
import type { Kind } from './kinds.ts'
import { attend, cancelJob } from './person.ts'
import type { Random } from './random.ts'
import { soakScenario } from './scenario.ts'
import { SoakClock } from './soak-clock.ts'
import { drawWork, JOB_DIRS, jobDir, MAX_RESUMES, notesOf, type Work } from './work.ts'

export interface RoundInput {
  kinds: ReadonlySet<Kind>
  seconds: number
  /** The share of jobs in the requested work, and their maximum number. */
  jobShare: number
  maxJobs: number
  random: Random
  /** Also turns, follow-ups, chains and messages; its home is on a disk of its own, and its clock can be set. */
  mixed: boolean
  /** Ends the round at once. */
  signal: AbortSignal
  log: (line: string) => void
}

/** The most work that a round may request. */
const MAX_WORK = 150
const MAX_OPEN = 10
/** Longer than any pause between attempts that the configuration below allows. */
const SETTLE_MS = 300_000

const CONFIG = {
  run: { termAfter: '2s', killAfter: '2s', concurrency: 3, hangAfterResult: '5s', maxDuration: '2m' },
  resume: { maxResumes: MAX_RESUMES },
  jobs: { backoff: '200ms' },
}
/** Long enough for a next turn, short enough to be over soon after the last one. */
const KEEPING = { conversations: { keepWarm: '20s' } }

/** When the kills are to end. Earlier than planned if there is no more work to request. */
interface Playtime {
  endAt: number
}

export async function playRound(input: RoundInput): Promise<Round> {
  const { random, kinds, mixed, jobShare, log } = input
  const work = drawWork(random.fork(), MAX_WORK, { jobShare, mixed, faultyModel: kinds.has('model') })
  const world = await World.create(soakScenario(work.map(({ tag }) => tag)), CONFIG)
  const clock = new SoakClock(world.dir)
  const hasDisk = mixed && mountHome(world)
  if (mixed) {
    await world.configure({ ...CONFIG, ...KEEPING })
    Object.assign(world.env, clock.env)
    if (!hasDisk) log('no disk is filled: a file system cannot be mounted here')
  }
  const round: Round = {
    world,
    kinds,
    mixed,
    hasDisk,
    clock,
    admitted: [],
    jobs: [],
    conversations: [],
    followUps: [],
    messages: new Set(),
    seen: [],
    kills: { ...NO_KILLS },
    faults: { ...NO_FAULTS },
  }
  try {
    await Promise.race([play(round, work, input), interruption(input.signal)])
    return round
  } catch (error) {
    await world.killDaemon()
    throw Object.assign(error as Error, { world })
  }
}

export class Interrupted extends Error {}

const interruption = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const end = () => reject(new Interrupted('interrupted'))
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
  })

async function play(round: Round, work: readonly Work[], input: RoundInput): Promise<void> {
  const { world, mixed } = round
  const { random, log } = input
  for (let n = 0; n < JOB_DIRS; n++) mkdirSync(jobDir(world, n))
  await world.startDaemon()
  const quiet = new AbortController()
  const [creator, person, agentKiller, toolKiller, daemonKiller, disturber] = [0, 1, 2, 3, 4, 5].map(() =>
    random.fork(),
  ) as Randoms
  const attending = attend(round, person, quiet.signal)
  const playtime: Playtime = { endAt: performance.now() + input.seconds * 1000 }
  await Promise.all([
    askForWork(round, work, input.maxJobs, creator, playtime),
    repeat(playtime, agentKiller, [400, 2500], async () => {
      const killed = killSomeAgent(round, agentKiller)
      if (killed) log(`killed ${killed}`)
    }),
    killAfterTools(round, toolKiller, playtime),
    mixed
      ? repeat(playtime, disturber, [300, 1500], async () => {
          const fault = await disturb(round, disturber)
          if (fault) log(`fault: ${fault}`)
        })
      : null,
    repeat(playtime, daemonKiller, [1500, 6000], () => bounceDaemon(round, daemonKiller)),
  ])
  log(`${round.admitted.length} runs and ${round.jobs.length} jobs admitted; waiting for them to settle`)
  await waitUntilSettled(round)
  quiet.abort()
  await attending
}

type Randoms = [Random, Random, Random, Random, Random, Random]

/** The moments right after a tool has done its work are short, and errors in handling them are the most likely. */
async function killAfterTools(round: Round, random: Random, playtime: Playtime): Promise<void> {
  const notes = notesOf(round.world)
  const size = () =>
    notes.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  for (let seen = size(); performance.now() < playtime.endAt; seen = size()) {
    await delay(10)
    if (size() === seen || !random.chance(0.4)) continue
    await delay(random.between(0, 400))
    killSomeAgent(round, random, 'agent')
  }
}

async function repeat(
  playtime: Playtime,
  random: Random,
  [minMs, maxMs]: [number, number],
  act: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const pauseMs = random.between(minMs, maxMs)
    if (performance.now() + pauseMs > playtime.endAt) return
    await delay(pauseMs)
    await act()
  }
}

/** Cancels run concurrently; all of them are done when this resolves. */
async function askForWork(
  round: Round,
  work: readonly Work[],
  maxJobs: number,
  random: Random,
  playtime: Playtime,
): Promise<void> {
  const cancels: Promise<void>[] = []
  for (const one of work) {
    if (performance.now() >= playtime.endAt || round.jobs.length >= maxJobs) break
    if (one.kind === 'run') await admitRun(round, one, random)
    else {
      const job = await admitJob(round, one)
      if (one.cancelAfterMs !== null) cancels.push(cancelJob(round, job, one.cancelAfterMs))
    }
    await delay(random.between(50, 500))
    while (performance.now() < playtime.endAt && ((await countOpen(round)) ?? MAX_OPEN) >= MAX_OPEN)
      await delay(100)
  }
  if (round.jobs.length >= maxJobs) playtime.endAt = performance.now()
  await Promise.all(cancels)
}

async function waitUntilSettled(round: Round): Promise<void> {
  await until(
    async () => {
      if (!(await readFollowUps(round))) return false
      // Paused jobs are counted first: one that a person continues meanwhile is counted as open afterwards.
      const paused = await read<Page<Job>>(round, '/api/jobs?state=paused&limit=1')
      // The messages are read last: one that nobody has read becomes a run when the run that it was for settles.
      return paused?.items.length === 0 && (await countOpen(round)) === 0 && (await readMessages(round))
    },
    'all work to settle',
    SETTLE_MS,
  )
}
