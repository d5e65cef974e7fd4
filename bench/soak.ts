/**
 * `npm run soak -- --minutes 5 --seed 7`: runs and jobs on the real CLI while agents and daemon are killed at random;
 * then all invariants are checked. `--jobs 200` continues until that many jobs were admitted, with almost nothing else
 * beside them. `--mixed` adds turns in kept processes, messages, follow-ups and chains to the work, and a faulty model,
 * stopped processes, damaged session files, full disks, exhausted descriptors and clock jumps to the kills;
 * `--disruptions 1000` continues until that many were counted. `--kinds descriptors,daemon` draws from these kinds only.
 * `--round 7` plays only the seventh round, with what that round draws in a whole soak.
 * It works in rounds of about a minute, each in its own world, so that a long soak neither grows nor hides an early
 * violation behind hours of later work. A round with violations does not end the soak. SIGINT and SIGTERM do, with a
 * report about the rounds that were finished.
 *
 * The seed determines what is drawn (which runs, which kills, how long the pauses are), not the speed of the machine: a
 * seed makes a violation likely to happen again, not certain. The files of a round with violations are kept for
 * inspection.
 */
import { cpSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { World } from '../test/support/world.ts'
import { checkRound } from './soak/check.ts'
import { unmountHome } from './soak/faults.ts'
import { isKind, KILLS, KINDS, type Kind } from './soak/kinds.ts'
import { createRandom } from './soak/random.ts'
import { countAll, countDisruptions, type SoakReport, type SoakRound, summarize } from './soak/report.ts'
import { Interrupted, playRound, type RoundInput } from './soak/round.ts'

export interface SoakInput {
  /** The duration, or instead the number of jobs. */
  seconds?: number
  jobs?: number
  /** Continues until this many disruptions were counted, instead of for a time. */
  disruptions?: number
  mixed?: boolean
  seed: number
  /** Plays this round only. */
  round?: number
  /** The disruptions to draw from; default: kills, and all others in a mixed soak. */
  kinds?: readonly Kind[]
  /** Ends the soak with a report about the rounds that were finished. */
  signal?: AbortSignal
  log?: (line: string) => void
}

const ROUND_SECONDS = 60

export async function soak({
  seconds,
  jobs,
  disruptions,
  mixed = false,
  seed,
  round: only,
  kinds = mixed ? KINDS : KILLS,
  signal = new AbortController().signal,
  log = () => {},
}: SoakInput): Promise<SoakReport> {
  const startedAt = performance.now()
  const report: SoakReport = {
    seed,
    mixed,
    kinds,
    rounds: [],
    violations: [],
    minutes: 0,
    interrupted: false,
  }
  const random = createRandom(seed)
  const length = planRounds(seconds ?? ROUND_SECONDS, jobs ?? disruptions)
  let left = jobs ?? Number.POSITIVE_INFINITY
  let pending = disruptions ?? Number.POSITIVE_INFINITY
  for (let number = 1; number <= (only ?? length.rounds) && left > 0 && pending > 0; number++) {
    const draws = random.fork()
    if (only !== undefined && number < only) continue
    const name = `seed ${seed}, round ${number}${Number.isFinite(length.rounds) ? ` of ${length.rounds}` : ''}`
    log(name)
    const input = {
      seconds: length.seconds,
      mixed,
      kinds: new Set(kinds),
      jobShare: jobs !== undefined ? 0.9 : mixed ? 0.35 : 0.5,
      maxJobs: left,
      random: draws,
      signal,
      log,
    }
    const { round, violations } = await oneRound(input, name)
    report.minutes = (performance.now() - startedAt) / 60_000
    if (signal.aborted) {
      report.interrupted = true
      break
    }
    for (const violation of violations) log(`- ${violation}`)
    report.violations.push(...violations.map((violation) => `${name}: ${violation}`))
    if (round) {
      left -= round.jobs
      pending -= countDisruptions(round)
      report.rounds.push(round)
      log(JSON.stringify(round))
    }
    const goal = disruptions === undefined ? '' : ` of ${disruptions}`
    log(
      `${countAll(report)}${goal} disruptions after ${report.minutes.toFixed(1)} minutes, ${report.violations.length} violations`,
    )
  }
  return report
}

function planRounds(seconds: number, endless: number | undefined): { rounds: number; seconds: number } {
  if (endless !== undefined) return { rounds: Number.POSITIVE_INFINITY, seconds: ROUND_SECONDS }
  const rounds = Math.max(1, Math.ceil(seconds / ROUND_SECONDS))
  return { rounds, seconds: seconds / rounds }
}

/** The round is null if it could not be played to its end. */
async function oneRound(
  input: RoundInput,
  name: string,
): Promise<{ round: SoakRound | null; violations: string[] }> {
  let world: World | undefined
  try {
    const played = await playRound(input)
    world = played.world
    const { violations, ...checked } = await checkRound(played)
    const last = violations.at(-1)
    if (last !== undefined)
      violations[violations.length - 1] =
        `${last} (the files of this round are in ${keep(played.world, name, violations)})`
    return { round: { ...checked, kills: played.kills, faults: played.faults }, violations }
  } catch (error) {
    world ??= (error as { world?: World }).world
    if (error instanceof Interrupted) return { round: null, violations: [] }
    const { message } = error as Error
    const kept = world ? ` (the files of this round are in ${keep(world, name, [message])})` : ''
    return { round: null, violations: [`${message}${kept}`] }
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
  // Pipes and sockets cannot be copied.
  const regular = (path: string) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found !== undefined && (found.isFile() || found.isDirectory() || found.isSymbolicLink())
  }
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

function readKinds(list: string | undefined): Kind[] | undefined {
  const names = list?.split(',')
  if (names && !names.every(isKind)) throw new Error(`--kinds: expected some of ${KINDS.join(',')}`)
  return names as Kind[] | undefined
}

const USAGE =
  'usage: npm run soak -- [--mixed] [--minutes N | --seconds N | --jobs N | --disruptions N] [--seed WHOLE-NUMBER] [--round N] [--kinds KIND,…]\n'

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seconds: { type: 'string' },
      jobs: { type: 'string' },
      disruptions: { type: 'string' },
      mixed: { type: 'boolean' },
      seed: { type: 'string' },
      round: { type: 'string' },
      kinds: { type: 'string' },
    },
  })
  const seconds = values.seconds ? Number(values.seconds) : Number(values.minutes ?? 2) * 60
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6))
  const jobs = values.jobs === undefined ? undefined : Number(values.jobs)
  const disruptions = values.disruptions === undefined ? undefined : Number(values.disruptions)
  const round = values.round === undefined ? undefined : Number(values.round)
  if (
    !(seconds > 0) ||
    !((round ?? 1) > 0) ||
    !((jobs ?? 1) > 0) ||
    !((disruptions ?? 1) > 0) ||
    !Number.isSafeInteger(seed)
  ) {
    process.stderr.write(USAGE)
    process.exit(2)
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  const kinds = readKinds(values.kinds)
  const log = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
  const report = await soak({
    ...(jobs !== undefined ? { jobs } : disruptions !== undefined ? { disruptions } : { seconds }),
    mixed: values.mixed ?? false,
    seed,
    ...(round === undefined ? {} : { round }),
    ...(kinds ? { kinds } : {}),
    signal: interruption.signal,
    log,
  })
  process.stdout.write(`\n${summarize(report)}\n`)
  // The actors of a round that was interrupted may still wait for something.
  process.exit(report.violations.length > 0 ? 1 : report.interrupted ? 130 : 0)
}
