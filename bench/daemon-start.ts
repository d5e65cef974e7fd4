/** How long a daemon takes until it answers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { REPRISE, type World } from '../test/support/world.ts'

const POLL_MS = 2

/** Starts a daemon, passes it to `use`, and ends it. Returns the time until it answered. */
export async function timeStart(
  world: World,
  use: (pid: number) => Promise<void> = async () => {},
): Promise<number> {
  const from = performance.now()
  const child = spawn(REPRISE, ['up', '--foreground'], { cwd: world.dir, env: world.env, stdio: 'ignore' })
  const exited = once(child, 'exit')
  try {
    while (!(await isHealthy(world, child.pid))) {
      if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`)
      await delay(POLL_MS)
    }
    const ms = performance.now() - from
    await use(child.pid!)
    return ms
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

async function isHealthy(world: World, pid: number | undefined): Promise<boolean> {
  try {
    const file = JSON.parse(readFileSync(join(world.home, 'daemon.json'), 'utf8')) as { pid: number }
    return file.pid === pid && (await world.request('GET', '/api/health')).ok
  } catch {
    return false
  }
}
