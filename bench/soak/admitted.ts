/** What a round has requested so far, and got an answer for. */
import type { Chaos } from './killer.ts'
import type { JobWork } from './work.ts'

export interface Admitted {
  tag: string
  id: string
  cancelled: boolean
}

export interface AdmittedJob extends Admitted {
  work: JobWork
}

export interface Round extends Chaos {
  admitted: Admitted[]
  jobs: AdmittedJob[]
  /** Violations that were noticed during the round. */
  seen: string[]
}
