import type { CreateRun } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import { readTurnLimits, type TurnLimits } from '../../core/continue/turns.ts'

/** Returns the turn limits of a request, or throws `bad-request`. */
export function turnLimitsOf(
  request: Pick<CreateRun, 'maxTurns' | 'continue' | 'maxTurnsTotal'>,
): TurnLimits {
  const limits = readTurnLimits(request)
  if ('problem' in limits) throw new RepriseError('bad-request', limits.problem)
  return limits
}
