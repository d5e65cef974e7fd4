/** A turn by the engine in process ÷ the same turn through a daemon, over HTTP. Each side has an engine and a home of its own. */
import { join } from 'node:path'
import { openReprise } from '../../src/library/index.ts'
import type { Reprise } from '../../src/library/reprise.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

export const inProcess: Benchmark = {
  name: 'in-process',
  about:
    'reprise.run until its loop has ended, with the engine in process ÷ the same calls with the daemon of another home. Both use the same simulator. Then getRun, 200 times.',
  run: async ({ short }) => {
    const world = await World.create({
      name: 'in-process',
      rules: [{ reply: 'Something, and a little more.' }],
    })
    const options = { env: world.env, cwd: world.workDir }
    try {
      await world.startDaemon()
      await using over = await openReprise({ ...options, home: world.home })
      await using here = await openReprise({
        ...options,
        home: join(world.dir, 'here'),
        agents: { claude: { model: 'haiku' } },
      })
      const sides = { here: () => timeMs(() => turn(here)), over: () => timeMs(() => turn(over)) }
      const turns = await interleave(sides, short ? 1 : 30, { cold: short, maxMs: 60_000 })
      const reads = await interleave(
        { here: await reading(here), over: await reading(over) },
        short ? 1 : 30,
        { cold: short },
      )
      return [
        figure('turn, in process ÷ over HTTP', '×', ratios(turns.here, turns.over)),
        figure('turn, in process', 'ms', turns.here),
        figure('turn, over HTTP', 'ms', turns.over),
        figure('getRun, in process ÷ over HTTP', '×', ratios(reads.here, reads.over)),
        figure('200 × getRun, in process', 'ms', reads.here),
        figure('200 × getRun, over HTTP', 'ms', reads.over),
      ]
    } finally {
      await world.close()
    }
  },
}

async function turn(reprise: Reprise): Promise<void> {
  const run = await reprise.run({ prompt: 'Say something.', permissions: 'edits' })
  for await (const event of run) {
    if (event.type === 'run-end' && event.outcome.name === 'completed') return
  }
  throw new Error(`${run.id} did not complete`)
}

async function reading(reprise: Reprise): Promise<() => Promise<number>> {
  const id = (await reprise.listRuns({ limit: 1 })).items[0]?.id ?? ''
  return () =>
    timeMs(async () => {
      for (let n = 0; n < 200; n++) await reprise.getRun(id)
    })
}
