/**
 * A turn with the session's files mirrored ÷ the same turn without. Two daemons, one of which keeps no copies of
 * transcripts; both go on in a session of their own, turn by turn, alternately.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileState, mirrorFile } from '../../src/engine/mirror/mirrored-file.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

export const mirror: Benchmark = {
  name: 'mirror',
  about:
    'A resumed turn, from POST /api/runs until run-end is received, with copies of the session files ÷ without (keep.transcripts 0ms). Adding to the copy of a transcript of 50 MB: what a turn of 20 kB adds, and the first look of a daemon, which compares all of it.',
  run: async ({ short }) => {
    const worlds = [await open({}), await open({ keep: { transcripts: '0ms' } })] as const
    try {
      const [mirrored, plain] = await Promise.all(worlds.map(begin))
      const turns = await interleave(
        { mirrored: () => timeMs(mirrored!), plain: () => timeMs(plain!) },
        short ? 1 : 60,
        { cold: short },
      )
      const long = await appendToLong(short ? 1 : 20, short ? 1 : 50)
      return [
        figure('turn with ÷ without a mirror', '×', ratios(turns.mirrored, turns.plain), { most: 1.02 }),
        figure('turn with a mirror', 'ms', turns.mirrored),
        figure('turn without', 'ms', turns.plain),
        figure('adding 20 kB to the copy of 50 MB', 'ms', long.added),
        figure('first look at a copy of 50 MB', 'ms', long.first),
      ]
    } finally {
      for (const world of worlds) await world.close()
    }
  },
}

async function open(config: object): Promise<World> {
  const world = await World.create({ name: 'mirror', rules: [{ reply: 'Something.' }] }, config)
  await world.startDaemon()
  return world
}

/** Returns a function that takes the next turn in one session. */
async function begin(world: World): Promise<() => Promise<void>> {
  const { session } = await world.run({ prompt: 'Begin.' })
  return async () => {
    const { resumed } = await world.run({ prompt: 'Say something.', sessionId: session! })
    if (!resumed) throw new Error('the session was not resumed')
  }
}

async function appendToLong(times: number, megabytes: number): Promise<{ added: number[]; first: number[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-bench-mirror-'))
  try {
    const file = join(dir, 'transcript')
    const line = (n: number) =>
      `{"type":"assistant","n":${n},"text":"${Math.random()} ${'word '.repeat(190)}"}\n`
    const part = (bytes: number) => Array.from({ length: bytes / 1000 }, (_, n) => line(n)).join('')
    writeFileSync(file, '')
    for (let n = 0; n < megabytes; n++) appendFileSync(file, part(1e6))
    const place = { dir: join(dir, 'mirror'), name: 'transcript' }
    const options = { followLink: true }
    let state: FileState | null = await mirrorFile(file, place, null, options)
    const [added, first]: [number[], number[]] = [[], []]
    for (let n = 0; n < times; n++) {
      appendFileSync(file, part(20_000))
      added.push(
        await timeMs(async () => {
          state = await mirrorFile(file, place, state, options)
        }),
      )
      if (n < 5) first.push(await timeMs(() => mirrorFile(file, place, null, options)))
    }
    return { added, first }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
