/**
 * One round: a world of its own, runs of every sort, kills while they go on; then quiet, until all has settled.
 *
 * A run counts as admitted once a daemon has answered for it; until then it is asked for again and again with the
 * same idempotency key, whatever happened to the daemon meanwhile.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '../../src/contract/http.ts'
import type { CreateRun, Run } from '../../src/contract/run.ts'
import { until, World } from '../../test/support/world.ts'
import { bounceDaemon, type Chaos, killSomeAgent, NO_KILLS } from './killer.ts'
import type { Random } from './random.ts'
import { promptOf, soakScenario, type Task, tagOf } from './scenario.ts'

export interface Admitted {
  tag: string
  id: string
  cancelled: boolean
}

export interface Round extends Chaos {
  admitted: Admitted[]
}

export interface RoundInput extends Pick<Chaos, 'spare'> {
  seconds: number
  random: Random
  log: (line: string) => void
}

/** How many runs a round may make; its scenario knows them all beforehand. */
const MAX_RUNS = 150
const MAX_OPEN = 6
/** Longer than any pause between attempts that the configuration below allows. */
const SETTLE_MS = 90_000

const CONFIG = {
  run: { termAfter: '2s', killAfter: '2s', concurrency: 3, hangAfterResult: '5s', maxDuration: '2m' },
  resume: { maxResumes: 4 },
}

export async function playRound({ seconds, random, spare, log }: RoundInput): Promise<Round> {
  const world = await World.create(soakScenario(MAX_RUNS), CONFIG)
  const round: Round = { world, spare, admitted: [], kills: { ...NO_KILLS } }
  try {
    await world.startDaemon()
    const quiet = new AbortController()
    const answering = answerAll(world, quiet.signal)
    const endAt = performance.now() + seconds * 1000
    const [creator, agentKiller, toolKiller, daemonKiller] = [0, 1, 2, 3].map(() => random.fork()) as Randoms
    await Promise.all([
      createRuns(round, creator, endAt),
      repeat(endAt, agentKiller, [300, 1800], async () => {
        const killed = killSomeAgent(round, agentKiller)
        if (killed) log(`killed ${killed}`)
      }),
      killAfterTools(round, toolKiller, endAt),
      repeat(endAt, daemonKiller, [1500, 6000], () => bounceDaemon(round, daemonKiller)),
    ])
    log(`${round.admitted.length} runs admitted; waiting for them to settle`)
    await waitUntilSettled(world)
    quiet.abort()
    await answering
    return round
  } catch (error) {
    await world.killDaemon()
    throw Object.assign(error as Error, { world })
  }
}

type Randoms = [Random, Random, Random, Random]

/** The moments after a tool has done its work are short, and the ones in which it is forgotten most easily. */
async function killAfterTools(round: Round, random: Random, endAt: number): Promise<void> {
  const notes = join(round.world.workDir, 'notes')
  const size = () => statSync(notes, { throwIfNoEntry: false })?.size ?? 0
  for (let seen = size(); performance.now() < endAt; seen = size()) {
    await delay(10)
    if (size() === seen || !random.chance(0.4)) continue
    await delay(random.between(0, 400))
    killSomeAgent(round, random, 'agent')
  }
}

async function repeat(
  endAt: number,
  random: Random,
  [minMs, maxMs]: [number, number],
  act: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const pauseMs = random.between(minMs, maxMs)
    if (performance.now() + pauseMs > endAt) return
    await delay(pauseMs)
    await act()
  }
}

async function createRuns({ world, admitted }: Round, random: Random, endAt: number): Promise<void> {
  for (let number = 1; number <= MAX_RUNS && performance.now() < endAt; number++) {
    const task: Task = random.chance(0.35) ? 'say' : 'note'
    const tag = tagOf(number, task)
    const permissions = random.pick(['allow', 'allow', 'ask', 'ask-all'] as const)!
    const session = random.chance(0.4) ? await sessionOf(world, random.pick(admitted)) : null
    const request: CreateRun = {
      prompt: promptOf(tag),
      workDir: world.workDir,
      permissions,
      ...(session ? { sessionId: session as NonNullable<CreateRun['sessionId']> } : {}),
    }
    const run = await admit(world, request, tag)
    const entry: Admitted = { tag, id: run.id, cancelled: false }
    admitted.push(entry)
    if (random.chance(0.05)) {
      await delay(random.between(0, 1500))
      entry.cancelled = true
      await quietly(() => world.api('POST', `/api/runs/${run.id}/cancel`))
    }
    await delay(random.between(50, 500))
    while (performance.now() < endAt && (await countOpen(world)) >= MAX_OPEN) await delay(100)
  }
}

async function admit(world: World, request: CreateRun, key: string): Promise<Run> {
  return until(
    () =>
      quietly(async () => {
        const response = await world.request('POST', '/api/runs', request, { 'idempotency-key': key })
        if (response.status >= 500) return null
        if (!response.ok) throw new Refused(`POST /api/runs: ${response.status} ${await response.text()}`)
        return (await response.json()) as Run
      }),
    `run ${key} to be admitted`,
    60_000,
  )
}

/** The daemon answered, and no restart will change what it said. */
class Refused extends Error {}

const sessionOf = (world: World, run: Admitted | undefined) =>
  run ? quietly(async () => (await world.getRun(run.id)).session) : null

async function countOpen(world: World): Promise<number> {
  const status = await quietly(() =>
    world.api<{ runs: { queued: number; running: number } }>('GET', '/api/status'),
  )
  return status ? status.runs.queued + status.runs.running : MAX_OPEN
}

/** Says yes to whatever is asked, as a person would who looks now and then. */
async function answerAll(world: World, quiet: AbortSignal): Promise<void> {
  while (!quiet.aborted) {
    const page = await quietly(() => world.api<Page<Run>>('GET', '/api/runs?state=running&limit=50'))
    for (const run of page?.items ?? []) {
      for (const { toolUseId } of run.pending) {
        await quietly(() =>
          world.api('POST', `/api/runs/${run.id}/tool-result`, { toolUseId, decision: 'allow' }),
        )
      }
    }
    await delay(150)
  }
}

async function waitUntilSettled(world: World): Promise<void> {
  await until(
    async () => {
      const { runs } = await world.api<{ runs: { queued: number; running: number } }>('GET', '/api/status')
      return runs.queued + runs.running === 0
    },
    'all runs to settle',
    SETTLE_MS,
  )
}

/** A daemon that is down, or says no to what is no longer so, is part of the game. */
async function quietly<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  }
}
