/**
 * Measures whether a reader that has stopped reading slows a run down or increases the daemon's memory. The agent first
 * prints enough to fill the buffers of such readers, then waits. The flood that it prints after that is measured, with
 * and without readers, from its first byte to the run's end.
 */
import { readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { capturedMiddle, capturedTurn } from '../captured.ts'
import { figure } from '../figure.ts'
import { claudePath } from '../machine.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { cpuMs, residentMb } from '../process-facts.ts'

const READERS = 4
const CALM_MS = 400
const CALM_WITHIN_MS = 30_000
const LATER_THAN_ANY_EVENT = 999_999_999_999_999

export const slowReader: Benchmark = {
  name: 'slow-reader',
  about: `A flood of output until run-end, with ${READERS} stalled SSE readers of the run ÷ without.`,
  run: async ({ short }) => {
    const world = await World.create({ name: 'flood', rules: [{ reply: 'unused' }] })
    try {
      const command = await writeFlood(world, short ? 4000 : 40_000)
      await world.configure({ agents: { flood: { adapter: 'claude', command } } })
      await world.startDaemon()
      const memory: Record<'without' | 'with', number[]> = { without: [], with: [] }
      const side = (name: keyof typeof memory, readers: number) => async () => {
        const ms = await flood(world, readers)
        memory[name].push(residentMb(world.daemonPid))
        return ms
      }
      const sides = await interleave(
        { without: side('without', 0), with: side('with', READERS) },
        short ? 1 : 10,
      )
      return [
        figure('with stalled readers ÷ without', '×', ratios(sides.with, sides.without), {
          most: 1.1,
          own: true,
        }),
        figure('with stalled readers', 'ms', sides.with),
        figure('without', 'ms', sides.without),
        figure('daemon at run-end with stalled readers, VmRSS', 'MB', memory.with.slice(1)),
        figure('daemon at run-end without, VmRSS', 'MB', memory.without.slice(1)),
      ]
    } finally {
      await world.close()
    }
  },
}

/** An agent that answers probes like the real one, and otherwise prints captured output as fast as it can. */
async function writeFlood(world: World, lines: number): Promise<string> {
  const [before, after, script] = ['before', 'after', 'flood'].map((name) => join(world.dir, name)) as Paths
  await writeFile(before, capturedMiddle(lines))
  await writeFile(after, capturedTurn(lines))
  const text = `#!/bin/sh
case "$*" in *--version* | *--help*) exec '${claudePath()}' "$@" ;; esac
cat '${before}'
until [ -e '${goFile(world)}' ]; do sleep 0.01; done
exec cat '${after}'
`
  await writeFile(script, text)
  await chmod(script, 0o755)
  return script
}

type Paths = [string, string, string]

const goFile = (world: World) => join(world.dir, 'go')

async function flood(world: World, readers: number): Promise<number> {
  await rm(goFile(world), { force: true })
  const { id } = await world.createRun({ prompt: 'flood', agent: 'flood' })
  const stalled = await Promise.all(Array.from({ length: readers }, () => stall(world, id)))
  await untilCalm(world.daemonPid)
  const ms = await timeMs(async () => {
    await writeFile(goFile(world), '')
    // Receives only the end: reading the events here would itself be work for the daemon.
    const path = `/api/runs/${id}/events?after=${LATER_THAN_ANY_EVENT}`
    await (await world.request('GET', path, undefined, { accept: 'application/x-ndjson' })).text()
  })
  const run = await world.getRun(id)
  if (run.outcome !== 'completed') throw new Error(`run ${id}: ${run.state} ${run.outcome} ${run.message}`)
  for (const socket of stalled) socket.destroy()
  return ms
}

/** Resolves when the first part is stored and every reader's buffers are full: the daemon is then idle. */
async function untilCalm(pid: number): Promise<void> {
  const deadline = performance.now() + CALM_WITHIN_MS
  for (let before = -1, now = cpuMs(pid); now - before > 10; now = cpuMs(pid)) {
    if (performance.now() > deadline) throw new Error('the daemon did not become idle')
    before = now
    await delay(CALM_MS)
  }
}

/** Requests the events and reads none of them. */
function stall(world: World, id: string): Promise<Socket> {
  const { url } = JSON.parse(readFileSync(join(world.home, 'daemon.json'), 'utf8')) as { url: string }
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim()
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.pause()
      socket.write(
        `GET /api/runs/${id}/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
      )
      resolve(socket)
    })
  })
}
