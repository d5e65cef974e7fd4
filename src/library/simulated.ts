/**
 * The simulator inside the daemon. It keeps its port across restarts, because an agent that outlived a daemon still
 * uses the old address and retries until the simulator is back.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scenario } from '../simulator/scenario-types.ts'
import type { Simulator } from '../simulator/server.ts'

/** By default the built-in scenario is played. */
export async function openSimulator(home: string, scenario?: Scenario): Promise<Simulator> {
  const { startSimulator } = await import('../simulator/server.ts')
  const folder = join(home, 'simulated')
  const file = join(folder, 'port')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const played = scenario === undefined ? {} : { scenario }
  const simulator = await startSimulator({ port: readPort(file), ...played }).catch(() =>
    startSimulator({ port: 0, ...played }),
  )
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
