/**
 * `npm run soak -- --minutes 5 --seed 7`: runs and jobs on the real CLI while agents and daemon are killed at random;
 * then all invariants are checked. `--jobs 200` continues until that many jobs were admitted, with almost nothing else
 * beside them. It works in rounds of at most a minute, each in its own world, so that a long soak neither grows nor
 * hides an early violation behind hours of later work.
 *
 * The seed determines what is drawn (which runs, which kills, how long the pauses are), not the speed of the machine: a
 * seed makes a violation likely to happen again, not certain. The files of a round with violations are kept for
 * inspection.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { World } from '../test/support/world.ts'
import { checkRound, type RoundReport } from './soak/check.ts'
import type { Kills, Target } from './soak/killer.ts'
import { createRandom } from './soak/random.ts'
import { playRound, type RoundInput } from './soak/round.ts'

export interface SoakInput {
  /** The duration, or instead the number of jobs. */
  seconds?: number
  jobs?: number
  seed: number
  /** Targets that are not killed individually, to find further violations behind a known one. */
  spare?: readonly Target[]
  log?: (line: string) => void
}

export interface SoakReport {
  seed: number
  rounds: (Omit<RoundReport, 'violations'> & { kills: Kills })[]
}

const ROUND_SECONDS = 60

/** Rejects after the first round that has violations, and lists them all. */
export async function soak({
  seconds,
  jobs,
  seed,
  spare = [],
  log = () => {},
}: SoakInput): Promise<SoakReport> {
  const report: SoakReport = { seed, rounds: [] }
  const random = createRandom(seed)
  const length = planRounds(seconds ?? ROUND_SECONDS, jobs)
  let left = jobs ?? Number.POSITIVE_INFINITY
  for (let number = 1; number <= length.rounds && left > 0; number++) {
    const name = `seed ${seed}, round ${number}${jobs === undefined ? ` of ${length.rounds}` : ''}`
    log(name)
    const { kills, violations, ...rest } = await oneRound(
      {
        seconds: length.seconds,
        jobShare: jobs === undefined ? 0.5 : 0.9,
        maxJobs: left,
        random: random.fork(),
        spare,
        log,
      },
      name,
    )
    left -= rest.jobs
    report.rounds.push({ ...rest, kills })
    log(JSON.stringify(report.rounds.at(-1)))
    if (violations.length > 0) throw new Error(`${name}:\n${violations.map((v) => `- ${v}`).join('\n')}`)
  }
  return report
}

function planRounds(seconds: number, jobs: number | undefined): { rounds: number; seconds: number } {
  if (jobs !== undefined) return { rounds: Number.POSITIVE_INFINITY, seconds: ROUND_SECONDS }
  const rounds = Math.max(1, Math.ceil(seconds / ROUND_SECONDS))
  return { rounds, seconds: seconds / rounds }
}

async function oneRound(input: RoundInput, name: string): Promise<RoundReport & { kills: Kills }> {
  let world: World | undefined
  try {
    const round = await playRound(input)
    world = round.world
    const report = await checkRound(round)
    if (report.violations.length > 0) {
      report.violations.push(`(the files of this round are in ${keep(round.world, name, report.violations)})`)
    }
    return { ...report, kills: round.kills }
  } catch (error) {
    world ??= (error as { world?: World }).world
    if (world) (error as Error).message += ` (the files of this round are in ${keep(world, name, [])})`
    throw error
  } finally {
    // Its complaint, processes left running, is among the violations already.
    await world?.close().catch(() => {})
  }
}

function keep(world: World, name: string, violations: readonly string[]): string {
  const dir = join(tmpdir(), `reprise-soak-${name.replaceAll(/\W+/g, '-')}-${Date.now()}`)
  mkdirSync(dir, { mode: 0o700 })
  const regular = (path: string) => !/\/(in|poke|hold)$/.test(path)
  for (const part of [world.home, world.workDir, join(world.configDir, 'projects')]) {
    try {
      cpSync(part, join(dir, part.slice(world.dir.length)), { recursive: true, filter: regular })
    } catch (error) {
      violations = [...violations, `not kept: ${error}`]
    }
  }
  const requests = world.simulator.requests().map(({ messages, system: _, tools: __, ...rest }) => ({
    ...rest,
    messages: messages.length,
    last: messages.slice(-2),
  }))
  writeFileSync(join(dir, 'requests.json'), JSON.stringify(requests, null, 1))
  writeFileSync(join(dir, 'violations.txt'), violations.join('\n'))
  writeFileSync(join(dir, 'daemon.log'), world.log())
  return dir
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seconds: { type: 'string' },
      jobs: { type: 'string' },
      seed: { type: 'string' },
      spare: { type: 'string', multiple: true },
    },
  })
  const seconds = values.seconds ? Number(values.seconds) : Number(values.minutes ?? 2) * 60
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6))
  const jobs = values.jobs === undefined ? undefined : Number(values.jobs)
  if (!(seconds > 0) || !((jobs ?? 1) > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write(
      'usage: npm run soak -- [--minutes N | --seconds N | --jobs N] [--seed WHOLE-NUMBER] [--spare agent|keeper|feeder|group]...\n',
    )
    process.exit(2)
  }
  try {
    const spare = (values.spare ?? []) as Target[]
    const length = jobs === undefined ? { seconds } : { jobs }
    await soak({ ...length, seed, spare, log: (line) => process.stdout.write(`${line}\n`) })
    process.stdout.write('no violation\n')
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
