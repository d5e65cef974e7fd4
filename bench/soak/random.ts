/**
 * Random numbers determined by a seed (mulberry32). Every actor of a soak has its own generator, so that its numbers do
 * not depend on how often the others have drawn.
 */
export interface Random {
  /** In [0, 1). */
  next: () => number
  between: (min: number, max: number) => number
  chance: (probability: number) => boolean
  pick: <T>(items: readonly T[]) => T | undefined
  fork: () => Random
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)],
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  }
}
