/** What a round has requested so far, and got an answer for. */

import type { Disturbed } from './faults.ts'
import type { Chaos } from './killer.ts'
import type { JobWork } from './work.ts'

export interface Admitted {
  tag: string
  /** Of the run. */
  id: string
  cancelled: boolean
}

export interface AdmittedJob extends Admitted {
  work: JobWork
}

export interface Round extends Chaos, Disturbed {
  admitted: Admitted[]
  jobs: AdmittedJob[]
  /** The ids of conversations, and of follow-ups with their tags. */
  conversations: string[]
  followUps: { tag: string; id: string }[]
  /** The runs whose agents were told something while they worked. */
  messages: Set<string>
  mixed: boolean
  /** Violations that were noticed during the round. */
  seen: string[]
}
