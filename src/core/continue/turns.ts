/**
 * How many turns an agent may take. `maxTurns` bounds one attempt; a run that may go on by itself after that does so until
 * its turns together reach `total`.
 */

export interface TurnLimits {
  maxTurns: number | null
  /** Set if the run goes on by itself: over all of its attempts. */
  turnsInAll?: number | undefined
}

/** Of a run that does not say. */
const TIMES = 10

/** What is stored of a request, or why it makes no sense. */
export function readTurnLimits(request: {
  maxTurns?: number | undefined
  continue?: boolean | undefined
  maxTurnsTotal?: number | undefined
}): TurnLimits | { problem: string } {
  const { maxTurns, maxTurnsTotal } = request
  const goesOn = request.continue === true
  if (goesOn && maxTurns === undefined)
    return { problem: 'continue: has a meaning only together with maxTurns' }
  if (!goesOn && maxTurnsTotal !== undefined)
    return { problem: 'maxTurnsTotal: has a meaning only together with continue' }
  if (maxTurns === undefined) return { maxTurns: null }
  if (maxTurnsTotal !== undefined && maxTurnsTotal < maxTurns)
    return { problem: `maxTurnsTotal: is less than maxTurns (${maxTurns})` }
  return { maxTurns, ...(goesOn ? { turnsInAll: maxTurnsTotal ?? TIMES * maxTurns } : {}) }
}

/** What is left after so many attempts that each took all they might; null: it does not go on by itself. */
export function turnsLeft({ maxTurns, turnsInAll }: TurnLimits, limited: number): number | null {
  if (maxTurns === null || turnsInAll === undefined) return null
  return Math.max(0, turnsInAll - limited * maxTurns)
}

/** For the next attempt. */
export function turnsForNext(limits: TurnLimits, limited: number): number | null {
  const left = turnsLeft(limits, limited)
  return left === null || limits.maxTurns === null
    ? limits.maxTurns
    : Math.max(1, Math.min(limits.maxTurns, left))
}
