/**
 * How long the daemon takes from its spawn until /api/health answers, compared with a Node that does nothing, and its
 * memory when idle. The home and the compile cache exist already, as on any start but the first; the first start is
 * reported too.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { timeStart } from '../daemon-start.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { cpuMs, proportionalMb, residentMb } from '../process-facts.ts'

export const start: Benchmark = {
  name: 'start',
  about: '`reprise up --foreground` until /api/health answers; memory five seconds later, idle.',
  run: async ({ short }) => {
    const world = await World.create({ name: 'start', rules: [{ reply: 'unused' }] })
    try {
      const first = await timeStart(world)
      const cpu: number[] = []
      const { ready, node } = await interleave(
        {
          node: () => timeMs(startNode),
          ready: () => timeStart(world, async (pid) => void cpu.push(cpuMs(pid))),
        },
        short ? 1 : 20,
      )
      const resident: number[] = []
      const proportional: number[] = []
      for (let count = short ? 1 : 3; count > 0; count--) {
        await timeStart(world, async (pid) => {
          await delay(short ? 1000 : 5000)
          resident.push(residentMb(pid))
          proportional.push(proportionalMb(pid))
        })
      }
      return [
        figure('daemon ready', 'ms', ready, { most: 400 }),
        figure('daemon ready ÷ node -e 0', '×', ratios(ready, node)),
        figure('node -e 0', 'ms', node),
        figure('daemon ready, processor time', 'ms', cpu.slice(1)),
        figure('daemon ready, the very first time', 'ms', [first]),
        figure('idle daemon, VmRSS', 'MB', resident, { most: 100 }),
        figure('idle daemon, Pss', 'MB', proportional),
      ]
    } finally {
      await world.close()
    }
  },
}

async function startNode(): Promise<void> {
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
}
