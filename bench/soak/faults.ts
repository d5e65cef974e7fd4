/**
 * The faults of a mixed soak besides kills: stopped processes, damaged session files, a full disk, exhausted descriptors
 * and a clock that is set forward and back. Each but the clock lasts a moment and is then undone.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { World } from '../../test/support/world.ts'
import { groupOf } from './killer.ts'
import { FAULTS, type Fault, type Kind } from './kinds.ts'
import type { Random } from './random.ts'
import { HOUR_MS, type SoakClock } from './soak-clock.ts'

export type Faults = Record<Fault, number>

export const NO_FAULTS: Faults = {
  stop: 0,
  stopDaemon: 0,
  transcript: 0,
  disk: 0,
  descriptors: 0,
  clock: 0,
  clockBack: 0,
}

export interface Disturbed {
  world: World
  kinds: ReadonlySet<Kind>
  faults: Faults
  /** Whether the home is on a disk of its own, which can be filled. */
  hasDisk: boolean
  clock: SoakClock
}

const DISK_BYTES = 96 * 2 ** 20
const FILL_BYTES = 65_536

/** Puts the home on a disk of its own. False if this machine does not allow it. */
export function mountHome(world: World): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=700`, 'none', world.home], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

export function unmountHome(world: World): void {
  execFileSync('umount', ['--lazy', world.home], { stdio: 'ignore' })
}

/** Causes one fault. Returns its name; null if there was nothing to disturb. */
export async function disturb(round: Disturbed, random: Random): Promise<Fault | null> {
  const possible = FAULTS.filter((one) => round.kinds.has(one) && (one !== 'disk' || round.hasDisk))
  const fault = random.pick(possible)
  if (!fault || !(await cause(fault, round, random))) return null
  round.faults[fault]++
  return fault
}

function cause(fault: Fault, round: Disturbed, random: Random): boolean | Promise<boolean> {
  const { world } = round
  switch (fault) {
    case 'stop':
      return stopGroup(world, random)
    case 'stopDaemon':
      return stopFor(world.daemonPid, random.between(100, 2500))
    case 'transcript':
      return damageTranscript(world, random)
    case 'disk':
      return fillDisk(world, random.between(300, 2500))
    case 'descriptors':
      return exhaustDescriptors(world, random.between(300, 2500))
    case 'clock':
      round.clock.setForward(random.between(0, HOUR_MS))
      return true
    case 'clockBack':
      return round.clock.setBack(random.between(20, 50) * 60_000)
  }
}

async function stopFor(target: number, ms: number): Promise<boolean> {
  if (target === 0 || !send(target, 'SIGSTOP')) return false
  await delay(ms)
  send(target, 'SIGCONT')
  return true
}

/** An agent with its keeper, or the agent alone. */
async function stopGroup(world: World, random: Random): Promise<boolean> {
  const agents = world.processes().filter(({ command }) => /claude.* -p /.test(command))
  const agent = random.pick(agents)
  if (!agent) return false
  const group = groupOf(agent.pid)
  return stopFor(random.chance(0.5) && group > 1 ? -group : agent.pid, random.between(100, 3000))
}

/** Cuts the last line of the transcript of a session that no agent uses, as a crash of the machine would. */
function damageTranscript(world: World, random: Random): boolean {
  const projects = join(world.configDir, 'projects')
  if (!existsSync(projects)) return false
  const used = world.processes().map(({ command }) => command)
  const files = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((name) => /[0-9a-f-]{36}\.jsonl$/.test(name))
    .filter((name) => !used.some((command) => command.includes(name.slice(-42, -6))))
  const name = random.pick(files)
  if (name === undefined) return false
  const path = join(projects, name)
  const { size } = statSync(path)
  truncateSync(path, Math.max(0, size - Math.floor(random.between(1, 40))))
  return true
}

async function fillDisk(world: World, ms: number): Promise<boolean> {
  const path = join(world.home, 'filler')
  const until = performance.now() + ms
  try {
    while (performance.now() < until) {
      fill(path)
      await delay(50)
    }
    return true
  } finally {
    rmSync(path, { force: true })
  }
}

function fill(path: string): void {
  const file = openSync(path, 'a')
  try {
    // Never more than the small disk has, in case that it is gone and this is the machine's own.
    for (let written = 0; written < DISK_BYTES; written += FILL_BYTES)
      writeSync(file, Buffer.alloc(FILL_BYTES))
  } catch {
    // The disk is full.
  } finally {
    closeSync(file)
  }
}

async function exhaustDescriptors(world: World, ms: number): Promise<boolean> {
  const pid = world.daemonPid
  // One that starts would only end with an error.
  if (readDaemonPid(world) !== pid) return false
  const limit = (count: number) =>
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`], { stdio: 'ignore' })
  try {
    limit(12)
    await delay(ms)
    limit(1024)
    return true
  } catch {
    // The daemon has been killed meanwhile.
    return false
  }
}

/** The pid of the daemon that answers; null: there is none. */
function readDaemonPid({ home }: World): number | null {
  try {
    return (JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return null
  }
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal)
    return true
  } catch {
    return false
  }
}
