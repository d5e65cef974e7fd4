/**
 * Measures whether a long history slows Reprise down. Two homes, one with ten past jobs, one with a million; a daemon
 * on each gets the same requests. Pages are no longer than the small history allows, so that both sides return the same
 * amount.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createJob, runJob } from '../../test/support/jobs.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { timeStart } from '../daemon-start.ts'
import { type Figure, figure, type Goal } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { addPastJobs } from '../past-jobs.ts'
import { STAND_IN_PROMPTS, writeStandIn } from '../stand-in.ts'

const FEW = 10
const HALF = FEW / 2
/** Requests per sample: a single response takes no longer than a hiccup of the machine. */
const REPEAT = 5

interface Home {
  world: World
  agent: string
  /** A job from the middle of the history. */
  job: string
}

interface Question {
  name: string
  path: (home: Home) => string
  goal: Goal | null
}

const GOAL: Goal = { most: 3 }
const QUESTIONS: readonly Question[] = [
  { name: 'GET /api/jobs, newest page', path: () => `/api/jobs?limit=${HALF}`, goal: GOAL },
  {
    name: 'GET /api/jobs, a page from the middle',
    path: ({ job }) => `/api/jobs?limit=${HALF - 1}&cursor=${job}`,
    goal: GOAL,
  },
  {
    name: 'GET /api/jobs of a state',
    path: () => `/api/jobs?state=failed&limit=${HALF}`,
    goal: GOAL,
  },
  { name: 'GET /api/jobs of a state that no job is in', path: () => '/api/jobs?state=paused', goal: GOAL },
  { name: 'GET /api/jobs/:id', path: ({ job }) => `/api/jobs/${job}`, goal: GOAL },
  { name: 'GET /api/runs, newest page', path: () => `/api/runs?limit=${HALF}`, goal: GOAL },
  { name: 'GET /api/runs that are running', path: () => '/api/runs?state=running', goal: GOAL },
  { name: 'GET /api/status', path: () => '/api/status', goal: GOAL },
  { name: 'GET /api/stats', path: () => '/api/stats', goal: GOAL },
]

export const history: Benchmark = {
  name: 'history',
  about:
    'Latency with a million past jobs ÷ with ten: from POST /api/jobs until the first attempt has started, of lists and totals, and of the start of the daemon.',
  run: async ({ short }) => {
    const many = short ? 2000 : 1_000_000
    const pairs = short ? 1 : 20
    const few = await makeHome(FEW)
    try {
      const lots = await makeHome(many)
      try {
        const title = (name: string) => `${name}: ${many.toLocaleString('en')} past jobs ÷ ${FEW}`
        const figures: Figure[] = []
        const compare = async (name: string, goal: Goal | null, time: (home: Home) => Promise<number>) => {
          const sides = await interleave({ few: () => time(few), lots: () => time(lots) }, pairs, {
            cold: short,
          })
          figures.push(figure(title(name), '×', ratios(sides.lots, sides.few), goal))
          figures.push(figure(`${name}, ${many.toLocaleString('en')} past jobs`, 'ms', sides.lots))
        }
        await compare('start of the daemon', GOAL, ({ world }) => timeStart(world))
        for (const { world } of [few, lots]) await world.startDaemon()
        await compare('POST /api/jobs until its attempt starts', GOAL, timeQueue)
        for (const { name, path, goal } of QUESTIONS) {
          await compare(name, goal, (home) => timeAnswers(home.world, path(home)))
        }
        return figures
      } finally {
        await lots.world.close()
      }
    } finally {
      await few.world.close()
    }
  },
}

async function makeHome(past: number): Promise<Home> {
  const world = await World.create({ name: 'history', rules: [{ reply: 'unused' }] })
  const agent = writeStandIn(world)
  await world.configure({ agents: agent.agents, run: { concurrency: FEW } })
  await world.startDaemon()
  await Promise.all(
    Array.from({ length: FEW }, (_, n) => {
      const workDir = join(world.workDir, `${n}`)
      mkdirSync(workDir)
      const prompt = n < HALF ? STAND_IN_PROMPTS.quick : STAND_IN_PROMPTS.fail
      return runJob(world, { prompt, agent: agent.name, workDir, maxResumes: 0 })
    }),
  )
  await world.killDaemon('SIGTERM')
  const database = join(world.home, 'reprise.db')
  addPastJobs(database, past - FEW)
  return { world, agent: agent.name, job: middleJob(database) }
}

/** A job with as many after it as before it. */
function middleJob(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const row = database
      .prepare('select id from jobs order by id limit 1 offset (select count(*) / 2 from jobs)')
      .get()
    return String(row?.id)
  } finally {
    database.close()
  }
}

async function timeQueue({ world, agent }: Home): Promise<number> {
  let runId = ''
  const ms = await timeMs(async () => {
    const workDir = join(world.workDir, '0')
    runId = (await createJob(world, { prompt: STAND_IN_PROMPTS.quick, agent, workDir })).runId
    await world.waitForEvent(runId, (event) => event.type === 'attempt-start')
  })
  await world.settled(runId)
  return ms
}

async function timeAnswers(world: World, path: string): Promise<number> {
  const ms = await timeMs(async () => {
    for (let n = 0; n < REPEAT; n++) await world.api('GET', path)
  })
  return ms / REPEAT
}
