/** Decides which runs are quarantined because the daemon crashed while handling them, and composes the message. */
import type { Outcome } from '../contract/outcome.ts'

export interface Deaths {
  step: 'prepare' | 'read' | 'call' | 'settle'
  /** How often the daemon died at this step of the run. */
  deaths: number
}

/** One death may be a coincidence: somebody killed the daemon, or the machine ran out of memory. */
const TOO_MANY = 2

const DOING: Record<Deaths['step'], string> = {
  prepare: 'preparing the run',
  read: 'reading the output of its agent',
  call: 'checking a program that its agent started',
  settle: 'settling the run',
}

/** null: the run may continue. */
export function decideQuarantine(suspicions: readonly Deaths[]): Outcome | null {
  const worst = suspicions.find(({ deaths }) => deaths >= TOO_MANY)
  if (!worst) return null
  const times = worst.deaths === 2 ? 'twice' : `${worst.deaths} times`
  return {
    name: 'quarantined',
    message: `the daemon died ${times} while it was ${DOING[worst.step]}. The run is held back and its agent was stopped, so that other work continues`,
  }
}
