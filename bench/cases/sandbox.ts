/** A turn in a sandbox ÷ the same turn without one, on the real CLI: from the request to the end of the run. */
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

export const sandbox: Benchmark = {
  name: 'sandbox',
  about: 'A turn in a sandbox ÷ a turn without one, from the request to the end of the run, real CLI.',
  run: async ({ short }) => {
    const world = await World.create({ name: 'sandbox', rules: [{ reply: 'Done.' }] })
    await world.startDaemon()
    try {
      const turn = (inSandbox: boolean) => async () => {
        const begun = performance.now()
        const run = await world.run({ prompt: 'hello', ...(inSandbox ? { sandbox: true } : {}) })
        if (run.outcome !== 'completed') throw new Error(`${run.outcome}: ${run.message}`)
        if ((run.sandbox !== 'none') !== inSandbox) throw new Error(`the sandbox was ${run.sandbox}`)
        return performance.now() - begun
      }
      const sides = { inside: turn(true), outside: turn(false) }
      const { inside, outside } = await interleave(sides, short ? 1 : 10, { cold: short })
      return [
        figure('a turn in a sandbox ÷ without one', '×', ratios(inside, outside), { most: 1.05, own: true }),
        figure(
          'what a sandbox adds to a turn',
          'ms',
          inside.map((ms, i) => ms - (outside[i] ?? 0)),
        ),
      ]
    } finally {
      await world.close()
    }
  },
}
