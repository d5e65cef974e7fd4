/** Which runs are held because the daemon died of them, and what people are told. */
import type { Outcome } from '../contract/outcome.ts'

export interface Deaths {
  step: 'prepare' | 'read' | 'guard' | 'settle'
  /** How often the daemon died at this very step of the run. */
  deaths: number
}

/** Once may be a coincidence: somebody killed the daemon, or the machine ran out of memory. */
const TOO_MANY = 2

const DOING: Record<Deaths['step'], string> = {
  prepare: 'preparing it',
  read: 'reading what its agent said',
  guard: 'checking a program that its agent started',
  settle: 'concluding it',
}

/** null: it may go on. */
export function decideQuarantine(suspicions: readonly Deaths[]): Outcome | null {
  const worst = suspicions.find(({ deaths }) => deaths >= TOO_MANY)
  if (!worst) return null
  const times = worst.deaths === 2 ? 'twice' : `${worst.deaths} times`
  return {
    name: 'quarantined',
    message: `the daemon died ${times} while it was ${DOING[worst.step]}. The run is held and its agent was ended, so that everything else goes on; a retry takes it up again`,
  }
}
