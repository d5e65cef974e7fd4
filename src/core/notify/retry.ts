/**
 * Decides what follows an attempt to deliver a notification. The pause starts at ten seconds and triples each time,
 * shortened by up to a quarter at random so that many failures are not retried at the same moment. After ten attempts,
 * which take about a day, Reprise gives up.
 */
export type TryResult =
  | { kind: 'delivered' }
  /** May succeed later. `reason` is short and contains no secret; `detail` is the output of a command. */
  | { kind: 'failed'; reason: string; detail?: string }
  /** Will never succeed. */
  | { kind: 'refused'; reason: string; detail?: string }

export type AfterTry = { kind: 'delivered' } | { kind: 'retry'; notBefore: Date } | { kind: 'give-up' }

export const MAX_TRIES = 10
const FIRST_WAIT_MS = 10_000
const GROWTH = 3
const JITTER = 0.25

/** `tries` includes this attempt; `random` is in [0, 1). */
export function decideAfterTry(result: TryResult, tries: number, now: Date, random: number): AfterTry {
  if (result.kind === 'delivered') return result
  if (result.kind === 'refused' || tries >= MAX_TRIES) return { kind: 'give-up' }
  const waitMs = FIRST_WAIT_MS * GROWTH ** (tries - 1) * (1 - JITTER * random)
  return { kind: 'retry', notBefore: new Date(now.getTime() + Math.round(waitMs)) }
}
