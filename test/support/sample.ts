/**
 * Selects from matrices of cases that each take seconds on the real CLI. One run of the tests plays a sample, a
 * different one each time; `npm run test:all` (REPRISE_TEST_ALL=1) plays them all.
 */
import fc from 'fast-check'
import { announceSeed } from '../core/random.ts'

/** A few cases that together cover every kind among them. */
export function sampleOf<const T>(cases: readonly T[], kindsOf: (one: T) => readonly string[]): readonly T[] {
  return process.env.REPRISE_TEST_ALL ? cases : chooseSample(cases, kindsOf, announceSeed('sample'))
}

export function chooseSample<T>(
  cases: readonly T[],
  kindsOf: (one: T) => readonly string[],
  seed: number,
): readonly T[] {
  const arbitrary = fc.shuffledSubarray([...cases], { minLength: cases.length })
  const [shuffled = []] = fc.sample(arbitrary, { seed, numRuns: 1 })
  const missing = new Set(cases.flatMap(kindsOf))
  const adds = (one: T) => new Set(kindsOf(one).filter((kind) => missing.has(kind))).size
  const chosen = new Set<T>()
  while (missing.size > 0) {
    const next = shuffled.reduce((best, one) => (adds(one) > adds(best) ? one : best))
    chosen.add(next)
    for (const kind of kindsOf(next)) missing.delete(kind)
  }
  return cases.filter((one) => chosen.has(one))
}
