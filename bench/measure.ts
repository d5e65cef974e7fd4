/** Samples and their statistics. */

export interface Spread {
  n: number
  median: number
  p10: number
  p90: number
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b)
  return {
    n: sorted.length,
    median: quantile(sorted, 0.5),
    p10: quantile(sorted, 0.1),
    p90: quantile(sorted, 0.9),
  }
}

/** Interpolates between the two nearest samples. */
function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

export async function timeMs(work: () => unknown): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/**
 * Runs the sides alternately, A B B A A B B A …, so that drift (heat, caches, neighbours) affects both alike. One
 * unmeasured run of each comes first, unless `cold`. No further pair begins after `maxMs`. Returns one sample per side
 * and pair.
 */
export async function interleave<Side extends string>(
  sides: Readonly<Record<Side, () => Promise<number>>>,
  pairs: number,
  { cold = false, maxMs = Number.POSITIVE_INFINITY } = {},
): Promise<Record<Side, number[]>> {
  const from = performance.now()
  const names = Object.keys(sides) as Side[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Side, number[]>
  if (!cold) for (const name of names) await sides[name]()
  for (let pair = 0; pair < pairs && (pair === 0 || performance.now() - from < maxMs); pair++) {
    for (const name of pair % 2 === 0 ? names : names.toReversed()) samples[name].push(await sides[name]())
  }
  return samples
}

/** Divides pair by pair: the samples of a pair are close in time, so a slow spell of the machine cancels out. */
export function ratios(above: readonly number[], below: readonly number[]): number[] {
  return above.map((value, index) => value / (below[index] ?? Number.NaN))
}
