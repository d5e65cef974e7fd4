/** How often a turn without tools is flushed to disk by the daemon, counted by strace (from the Debian package). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Chat } from '../../test/support/chat.ts'
import { REPRISE, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'

/** The session is copied shortly after a turn. */
const CALM_MS = 3000

export const flushes: Benchmark = {
  name: 'flushes',
  about:
    'Calls of fsync and fdatasync by the daemon for one trivial turn, until a few seconds after its end.',
  run: async ({ short }) => {
    const world = await World.create({ name: 'flushes', rules: [{ reply: 'Something.' }] })
    const calls = join(world.dir, 'calls')
    const strace = ['strace', '-f', '-e', 'trace=fsync,fdatasync', '-e', 'signal=none', '-o', calls]
    try {
      await world.startDaemon({ program: [...strace, REPRISE, 'up', '--foreground'] })
      const count = async (turn: () => Promise<unknown>) => {
        const before = countCalls(calls)
        await turn()
        await delay(CALM_MS)
        return countCalls(calls) - before
      }
      const chat = await Chat.create(world)
      const turn = () => count(() => chat.say('hello'))
      const run = () => count(async () => world.settled((await world.createRun({ prompt: 'hello' })).id))
      // The first turn also stores what is learnt about the agent.
      await turn()
      await run()
      const [turns, runs]: [number[], number[]] = [[], []]
      for (let n = 0; n < (short ? 1 : 5); n++) {
        turns.push(await turn())
        runs.push(await run())
      }
      return [
        figure('flushes of a chat turn', 'calls', turns, { most: 6 }),
        figure('flushes of a run', 'calls', runs, { most: 6 }),
      ]
    } finally {
      // While strace writes to a file, signals do not end it; it ends with the daemon.
      await world.request('POST', '/api/shutdown').catch(() => {})
      await world.daemonDeath()
      await world.close()
    }
  },
}

/** A call that another thread interrupted has a second line, without the opening bracket. */
const countCalls = (file: string) => readFileSync(file, 'utf8').match(/\bf(data)?sync\(/g)?.length ?? 0
