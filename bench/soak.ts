/**
 * `npm run soak -- --minutes 5 --seed 7`: runs and jobs on the real CLI while agents and daemon are killed at random;
 * then all invariants are checked. `--jobs 200` continues until that many jobs were admitted, with almost nothing else
 * beside them. `--mixed` adds turns, follow-ups and a faulty model to the work, and stopped processes, damaged session
 * files, full disks, exhausted descriptors and clock jumps to the kills; `--disruptions 1000` continues until that many
 * were counted. It works in rounds of at most a minute, each in its own world, so that a long soak neither grows nor
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
import { type Faults, unmountHome } from './soak/faults.ts'
import type { Kills, Target } from './soak/killer.ts'
import { createRandom } from './soak/random.ts'
import { playRound, type RoundInput } from './soak/round.ts'

export interface SoakInput {
  /** The duration, or instead the number of jobs. */
  seconds?: number
  jobs?: number
  /** Continues until this many disruptions were counted, instead of for a time. */
  disruptions?: number
  mixed?: boolean
  seed: number
  /** Targets that are not killed individually, to find further violations behind a known one. */
  spare?: readonly Target[]
  log?: (line: string) => void
}

export interface SoakReport {
  seed: number
  rounds: (Omit<RoundReport, 'violations'> & { kills: Kills; faults: Faults })[]
}

const ROUND_SECONDS = 60

/** Rejects after the first round that has violations, and lists them all. */
export async function soak({
  seconds,
  jobs,
  disruptions,
  mixed = false,
  seed,
  spare = [],
  log = () => {},
}: SoakInput): Promise<SoakReport> {
  const report: SoakReport = { seed, rounds: [] }
  const random = createRandom(seed)
  const length = planRounds(seconds ?? ROUND_SECONDS, jobs ?? disruptions)
  let left = jobs ?? Number.POSITIVE_INFINITY
  let pending = disruptions ?? Number.POSITIVE_INFINITY
  for (let number = 1; number <= length.rounds && left > 0 && pending > 0; number++) {
    const name = `seed ${seed}, round ${number}${jobs === undefined ? ` of ${length.rounds}` : ''}`
    log(name)
    const { kills, faults, violations, ...rest } = await oneRound(
      {
        seconds: length.seconds,
        mixed,
        jobShare: jobs === undefined ? 0.5 : 0.9,
        maxJobs: left,
        random: random.fork(),
        spare,
        log,
      },
      name,
    )
    left -= rest.jobs
    const round = { ...rest, kills, faults }
    report.rounds.push(round)
    pending -= countDisruptions(round)
    log(JSON.stringify(round))
    log(`${countAll(report)} disruptions so far`)
    if (violations.length > 0) throw new Error(`${name}:\n${violations.map((v) => `- ${v}`).join('\n')}`)
  }
  return report
}

const sum = (counts: object): number =>
  Object.values(counts).reduce((total: number, count) => total + Number(count), 0)

const countDisruptions = ({ kills, faults, modelFaults }: SoakReport['rounds'][number]) =>
  sum(kills) + sum(faults) + modelFaults

const countAll = ({ rounds }: SoakReport) =>
  rounds.reduce((total, round) => total + countDisruptions(round), 0)

/** One line for bench/RESULTS.md. */
export function summarize(report: SoakReport): string {
  const add = (read: (round: SoakReport['rounds'][number]) => Record<string, number>) => {
    const totals: Record<string, number> = {}
    for (const round of report.rounds)
      for (const [name, count] of Object.entries(read(round))) totals[name] = (totals[name] ?? 0) + count
    return Object.entries(totals)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  }
  const total = (read: (round: SoakReport['rounds'][number]) => number) =>
    report.rounds.reduce((all, round) => all + read(round), 0)
  return (
    `${countAll(report)} disruptions (kills: ${add(({ kills }) => ({ ...kills }))}; faults: ${add(({ faults }) => faults)}; model ${total(({ modelFaults }) => modelFaults)}), ` +
    `${total(({ runs }) => runs)} runs, ${total(({ jobs }) => jobs)} jobs, ${total(({ attempts }) => attempts)} attempts, ` +
    `${total(({ modelRequests }) => modelRequests)} requests; outcomes: ${add(({ outcomes }) => outcomes)}; 0 lost, 0 doubled, 0 orphaned (seed ${report.seed})`
  )
}

function planRounds(seconds: number, endless: number | undefined): { rounds: number; seconds: number } {
  if (endless !== undefined) return { rounds: Number.POSITIVE_INFINITY, seconds: ROUND_SECONDS }
  const rounds = Math.max(1, Math.ceil(seconds / ROUND_SECONDS))
  return { rounds, seconds: seconds / rounds }
}

async function oneRound(
  input: RoundInput,
  name: string,
): Promise<RoundReport & { kills: Kills; faults: Faults }> {
  let world: World | undefined
  try {
    const round = await playRound(input)
    world = round.world
    const report = await checkRound(round)
    if (report.violations.length > 0) {
      report.violations.push(`(the files of this round are in ${keep(round.world, name, report.violations)})`)
    }
    return { ...report, kills: round.kills, faults: round.faults }
  } catch (error) {
    world ??= (error as { world?: World }).world
    if (world) (error as Error).message += ` (the files of this round are in ${keep(world, name, [])})`
    throw error
  } finally {
    if (world && input.mixed) await leaveDisk(world)
    // Its complaint, processes left running, is among the violations already.
    await world?.close().catch(() => {})
  }
}

async function leaveDisk(world: World): Promise<void> {
  await world.killDaemon()
  try {
    unmountHome(world)
  } catch {
    // It was not mounted.
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
      disruptions: { type: 'string' },
      mixed: { type: 'boolean' },
      seed: { type: 'string' },
      spare: { type: 'string', multiple: true },
    },
  })
  const seconds = values.seconds ? Number(values.seconds) : Number(values.minutes ?? 2) * 60
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6))
  const jobs = values.jobs === undefined ? undefined : Number(values.jobs)
  const disruptions = values.disruptions === undefined ? undefined : Number(values.disruptions)
  if (!(seconds > 0) || !((jobs ?? 1) > 0) || !((disruptions ?? 1) > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write(
      'usage: npm run soak -- [--mixed] [--minutes N | --seconds N | --jobs N | --disruptions N] [--seed WHOLE-NUMBER] [--spare agent|keeper|feeder|group]...\n',
    )
    process.exit(2)
  }
  try {
    const spare = (values.spare ?? []) as Target[]
    const length = jobs !== undefined ? { jobs } : disruptions !== undefined ? { disruptions } : { seconds }
    const log = (line: string) => process.stdout.write(`${line}\n`)
    const report = await soak({ ...length, mixed: values.mixed ?? false, seed, spare, log })
    log(summarize(report))
    log('no violation')
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
