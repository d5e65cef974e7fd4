/**
 * How many turns an agent may take. `maxTurns` limits one attempt; a run that continues automatically after that stops
 * when its turns in total reach `turnsInAll`.
 */

export interface TurnLimits {
  maxTurns: number | null
  /** The limit over all attempts. Set only if the run continues automatically. */
  turnsInAll?: number | undefined
}

/** The default of `maxTurnsTotal`, in multiples of `maxTurns`. */
const DEFAULT_MULTIPLE = 10

/** The limits of a request, or what is wrong with them. */
export function readTurnLimits(request: {
  maxTurns?: number | undefined
  continue?: boolean | undefined
  maxTurnsTotal?: number | undefined
}): TurnLimits | { problem: string } {
  const { maxTurns, maxTurnsTotal } = request
  const continues = request.continue === true
  if (continues && maxTurns === undefined) return { problem: 'continue: requires maxTurns' }
  if (!continues && maxTurnsTotal !== undefined) return { problem: 'maxTurnsTotal: requires continue' }
  if (maxTurns === undefined) return { maxTurns: null }
  if (maxTurnsTotal !== undefined && maxTurnsTotal < maxTurns)
    return { problem: `maxTurnsTotal: must not be less than maxTurns (${maxTurns})` }
  return { maxTurns, ...(continues ? { turnsInAll: maxTurnsTotal ?? DEFAULT_MULTIPLE * maxTurns } : {}) }
}

/**
 * The turns that are left after `limited` attempts that each reached `maxTurns`; null: the run does not continue
 * automatically.
 */
export function turnsLeft({ maxTurns, turnsInAll }: TurnLimits, limited: number): number | null {
  if (maxTurns === null || turnsInAll === undefined) return null
  return Math.max(0, turnsInAll - limited * maxTurns)
}

/** The limit of turns for the next attempt. */
export function turnsForNext(limits: TurnLimits, limited: number): number | null {
  const left = turnsLeft(limits, limited)
  return left === null || limits.maxTurns === null
    ? limits.maxTurns
    : Math.max(1, Math.min(limits.maxTurns, left))
}
