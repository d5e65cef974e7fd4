/** Random tests: the seed is printed at the start, so that a run that hangs or dies can be repeated as well. */
import fc from 'fast-check'

export function checkProperty<T>(property: fc.IProperty<T>, numRuns = 500): void {
  const seed = announceSeed()
  fc.assert(property, { seed, numRuns })
}

/** Set REPRISE_TEST_SEED to repeat a run. */
export function announceSeed(of = 'fast-check'): number {
  const seed = Number(process.env.REPRISE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`${of} seed ${seed}\n`)
  return seed
}
