/**
 * The simulator inside the daemon. It keeps its port across restarts, because an agent that outlived a daemon still
 * uses the old address and retries until the simulator is back.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Simulator } from '../simulator/server.ts'

export async function openSimulator(home: string): Promise<Simulator> {
  const { startSimulator } = await import('../simulator/server.ts')
  const folder = join(home, 'simulated')
  const file = join(folder, 'port')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const simulator = await startSimulator({ port: readPort(file) }).catch(() => startSimulator({ port: 0 }))
  writeFileSync(file, `${simulator.port}\n`, { mode: 0o600 })
  return simulator
}

function readPort(file: string): number {
  try {
    const port = Number(readFileSync(file, 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0
  } catch {
    return 0
  }
}
