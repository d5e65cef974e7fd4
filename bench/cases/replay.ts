/**
 * How long other requests wait while one reader replays a long run as fast as it can, and whether the daemon's memory
 * returns afterwards. The reader is a process of its own, so that only the daemon delays the answers.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { capturedTurn } from '../captured.ts'
import { figure } from '../figure.ts'
import { claudePath } from '../machine.ts'
import { timeMs } from '../measure.ts'
import { residentMb } from '../process-facts.ts'

const EVENTS = 100_000
const CALM_MS = 5000

export const replay: Benchmark = {
  name: 'replay',
  about: `The longest wait of GET /api/health while one reader replays a run of at least ${EVENTS.toLocaleString('en')} events, and the memory of the daemon before and after.`,
  run: async ({ short }) => {
    const world = await World.create({ name: 'replay', rules: [{ reply: 'unused' }] })
    try {
      const command = await writeFlood(world, short ? 2000 : EVENTS)
      await world.configure({ agents: { flood: { adapter: 'claude', command } } })
      await world.startDaemon()
      const { id } = await world.createRun({ prompt: 'flood', agent: 'flood' })
      await world.settled(id)
      await delay(short ? 500 : CALM_MS)
      const before = residentMb(world.daemonPid)
      const idle = await longestWait(world, delay(short ? 200 : 2000))
      const waits: number[] = []
      const times: number[] = []
      for (let n = 0; n < (short ? 1 : 5); n++) {
        times.push(
          await timeMs(async () => {
            waits.push(await longestWait(world, readAll(world, id)))
          }),
        )
      }
      await delay(short ? 500 : CALM_MS)
      return [
        figure('longest wait of /api/health during a replay', 'ms', waits, { most: 50 }),
        figure('longest wait of /api/health without one', 'ms', [idle]),
        figure('replay', 'ms', times),
        figure('daemon after the replays ÷ before', '×', [residentMb(world.daemonPid) / before], {
          most: 1.2,
          own: true,
        }),
        figure('daemon before the replays, VmRSS', 'MB', [before]),
      ]
    } finally {
      await world.close()
    }
  },
}

/** An agent that answers probes like the real one, and otherwise prints captured output. */
async function writeFlood(world: World, lines: number): Promise<string> {
  const [output, script] = [join(world.dir, 'output'), join(world.dir, 'flood')]
  await writeFile(output, capturedTurn(lines))
  await writeFile(
    script,
    `#!/bin/sh\ncase "$*" in *--version* | *--help*) exec '${claudePath()}' "$@" ;; esac\nexec cat '${output}'\n`,
  )
  await chmod(script, 0o755)
  return script
}

const READER = `
  const [url, token] = process.argv.slice(1)
  const response = await fetch(url, { headers: { authorization: 'Bearer ' + token } })
  for await (const _ of response.body);
`

async function readAll(world: World, id: string): Promise<void> {
  const { url } = JSON.parse(readFileSync(join(world.home, 'daemon.json'), 'utf8')) as { url: string }
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim()
  const args = ['--input-type=module', '-e', READER, `${url}/api/runs/${id}/events`, token]
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  if (code !== 0) throw new Error(`the reader ended with ${code}`)
}

async function longestWait(world: World, work: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    longest = Math.max(
      longest,
      await timeMs(async () => (await world.request('GET', '/api/health')).arrayBuffer()),
    )
  }
  await over
  return longest
}
