/** A turn in each sandbox that works here ÷ the same turn without one, on the real CLI: from the request to the end of the run. */
import { detectSandbox } from '../../src/process/sandbox/detect.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

type Kind = 'bubblewrap' | 'unshare'

async function worksHere(kind: Kind): Promise<boolean> {
  const { means } = await detectSandbox({ path: process.env.PATH ?? '', wanted: kind })
  return means.kind === kind
}

/** A world whose daemon uses this sandbox; the turns of `none` ask for none. */
async function openWorld(kind: Kind | 'none') {
  const world = await World.create({ name: 'sandbox', rules: [{ reply: 'Done.' }] })
  if (kind !== 'none') world.env.REPRISE_SANDBOX_KIND = kind
  await world.startDaemon()
  const turn = async () => {
    const begun = performance.now()
    const run = await world.run({ prompt: 'hello', ...(kind === 'none' ? {} : { sandbox: true }) })
    if (run.outcome !== 'completed') throw new Error(`${run.outcome}: ${run.message}`)
    if (run.sandbox !== kind) throw new Error(`the sandbox was ${run.sandbox}`)
    return performance.now() - begun
  }
  return { turn, close: () => world.close() }
}

export const sandbox: Benchmark = {
  name: 'sandbox',
  about: 'A turn in a sandbox ÷ a turn without one, from the request to the end of the run, real CLI.',
  run: async ({ short }) => {
    const kinds: Kind[] = []
    for (const kind of ['bubblewrap', 'unshare'] as const) if (await worksHere(kind)) kinds.push(kind)
    const worlds = await Promise.all(
      (['none', ...kinds] as const).map(async (kind) => [kind, await openWorld(kind)] as const),
    )
    try {
      const sides = Object.fromEntries(worlds.map(([kind, { turn }]) => [kind, turn]))
      const { none: outside = [], ...inside } = await interleave(sides, short ? 1 : 20, { cold: short })
      return kinds.flatMap((kind) => {
        const times = inside[kind] ?? []
        return [
          figure(`a turn in ${kind} ÷ without a sandbox`, '×', ratios(times, outside), {
            most: 1.05,
            own: true,
          }),
          figure(
            `what ${kind} adds to a turn`,
            'ms',
            times.map((ms, i) => ms - (outside[i] ?? 0)),
          ),
        ]
      })
    } finally {
      for (const [, world] of worlds) await world.close()
    }
  },
}
