/** Kills processes of one world with SIGKILL at random moments: by process id, as found by the world itself. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { World } from '../../test/support/world.ts'
import type { Kind } from './kinds.ts'
import type { Random } from './random.ts'

export interface Kills {
  agent: number
  keeper: number
  feeder: number
  group: number
  daemon: number
  /** Daemons that were killed before they reported that they were ready. */
  startingDaemon: number
}

/** What is killed by itself, besides the daemon. */
type Target = 'agent' | 'keeper' | 'feeder' | 'group'

export const NO_KILLS: Kills = { agent: 0, keeper: 0, feeder: 0, group: 0, daemon: 0, startingDaemon: 0 }

/** A run of which the daemon died twice is held back until a person continues it. */
export const mayQuarantine = ({ daemon, startingDaemon }: Kills): boolean => daemon + startingDaemon >= 2

export interface Chaos {
  world: World
  kills: Kills
  /** What the round may do. */
  kinds: ReadonlySet<Kind>
}

type Part = 'agent' | 'keeper' | 'feeder'

interface Victim {
  pid: number
  part: Part
}

/** The processes of attempts. The feeder is a fork of the keeper's shell; the keeper leads the group. */
function victims(world: World): Victim[] {
  return world.processes().flatMap(({ pid, command }): Victim[] => {
    if (command.includes('keeper.sh')) return [{ pid, part: groupOf(pid) === pid ? 'keeper' : 'feeder' }]
    return /claude.* -p /.test(command) ? [{ pid, part: 'agent' }] : []
  })
}

export function groupOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
  } catch {
    return 0
  }
}

function kill(target: number): boolean {
  try {
    process.kill(target, 'SIGKILL')
    return true
  } catch {
    return false
  }
}

/** Mostly the agent itself; sometimes its keeper or feeder, or all of them at once. */
function drawTarget(random: Random): Target {
  const draw = random.next()
  return draw < 0.6 ? 'agent' : draw < 0.7 ? 'keeper' : draw < 0.8 ? 'feeder' : 'group'
}

export function killSomeAgent(
  { world, kills, kinds }: Chaos,
  random: Random,
  what: Target = drawTarget(random),
): string | null {
  if (!kinds.has(what)) return null
  const part: Part = what === 'group' ? 'keeper' : what
  const victim = random.pick(victims(world).filter((v) => v.part === part))
  if (!victim || !kill(what === 'group' ? -victim.pid : victim.pid)) return null
  kills[what]++
  return `${what} ${victim.pid}`
}

/** Kills the daemon and starts it again, sometimes more than once, sometimes with an agent killed in between. */
export async function bounceDaemon(chaos: Chaos, random: Random): Promise<void> {
  const { world, kills, kinds } = chaos
  if (!kinds.has('daemon')) return
  await world.killDaemon()
  kills.daemon++
  if (random.chance(0.3)) killSomeAgent(chaos, random)
  await delay(random.chance(0.5) ? 0 : random.between(0, 1500))
  if (random.chance(0.3)) {
    const start = world.startDaemon().catch(() => {})
    await delay(random.between(50, 700))
    await world.killDaemon()
    kills.startingDaemon++
    await start
  }
  await startDaemon(world)
}

/** Long enough for a busy machine: a daemon that takes longer hangs. */
const READY_WITHIN_MS = 90_000

/** A daemon does not start while the disk is full; a person would try again. */
async function startDaemon(world: World): Promise<void> {
  for (let failures = 0; ; failures++) {
    const late = delay(READY_WITHIN_MS, 'late' as const, { ref: false })
    try {
      if ((await Promise.race([world.startDaemon(), late])) !== 'late') return
      failures = Number.POSITIVE_INFINITY
      throw new Error(`the daemon was not ready after ${READY_WITHIN_MS / 1000} s:\n${world.log()}`)
    } catch (error) {
      if (failures >= 20) throw error
      await delay(300)
    }
  }
}
