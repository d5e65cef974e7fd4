import type { CreateRun } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import { readTurnLimits, type TurnLimits } from '../../core/continue/turns.ts'

/** What a request says about turns, or an error that says what is wrong with it. */
export function turnLimitsOf(
  request: Pick<CreateRun, 'maxTurns' | 'continue' | 'maxTurnsTotal'>,
): TurnLimits {
  const limits = readTurnLimits(request)
  if ('problem' in limits) throw new RepriseError('bad-request', limits.problem)
  return limits
}
