/**
 * What follows a try to tell somebody. Waits grow threefold from ten seconds, each cut by up to a quarter so that many
 * that failed together do not come back together: ten tries within about a day, then it is given up.
 */
export type TryResult =
  | { kind: 'delivered' }
  /** Not now. `reason` is short and holds no secret; `detail` is what a command printed. */
  | { kind: 'failed'; reason: string; detail?: string }
  /** Not ever. */
  | { kind: 'refused'; reason: string; detail?: string }

export type AfterTry = { kind: 'delivered' } | { kind: 'retry'; notBefore: Date } | { kind: 'give-up' }

export const MAX_TRIES = 10
const FIRST_WAIT_MS = 10_000
const GROWTH = 3
const JITTER = 0.25

/** `tries` counts this one too; `random` is in [0, 1). */
export function decideAfterTry(result: TryResult, tries: number, now: Date, random: number): AfterTry {
  if (result.kind === 'delivered') return result
  if (result.kind === 'refused' || tries >= MAX_TRIES) return { kind: 'give-up' }
  const waitMs = FIRST_WAIT_MS * GROWTH ** (tries - 1) * (1 - JITTER * random)
  return { kind: 'retry', notBefore: new Date(now.getTime() + Math.round(waitMs)) }
}
