/** Cycles of watches in words. */
import type { Cycle } from '../../src/contract/cycle.ts'
import type { Standing } from '../format/words.ts'

export const STATUS_STANDING: Readonly<Record<NonNullable<Cycle['status']>, Standing>> = {
  healthy: 'done',
  fixed: 'done',
  degraded: 'fail',
  down: 'fail',
  unknown: 'off',
}

export const TRIGGER_WORDS: Readonly<Record<Cycle['trigger'], string>> = {
  schedule: 'its schedule',
  'catch-up': 'its schedule, late: the daemon did not run',
  person: 'a person',
  event: 'an event',
}

type Standable = Pick<Cycle, 'state' | 'outcome' | 'pendingFollowUps'>

/** A cycle waits for a follow-up or for an approval; without a follow-up, a person is needed. */
const needsApproval = ({ state, pendingFollowUps }: Standable) =>
  state === 'waiting' && pendingFollowUps === 0

export function standingOfCycle(cycle: Standable & Pick<Cycle, 'status'>): Standing {
  if (needsApproval(cycle)) return 'ask'
  if (cycle.state === 'running') return 'work'
  if (cycle.state === 'queued' || cycle.state === 'waiting') return 'wait'
  if (cycle.state === 'skipped' || cycle.outcome === 'cancelled') return 'off'
  if (cycle.outcome !== 'completed') return 'fail'
  return cycle.status ? STATUS_STANDING[cycle.status] : 'done'
}

export const wordOfCycle = (cycle: Standable) =>
  needsApproval(cycle) ? 'asks you' : cycle.state === 'ended' && cycle.outcome ? cycle.outcome : cycle.state
