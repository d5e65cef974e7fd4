/** Giving space back to the file system, as the engine sees it. How it is done depends on the database. */
import type { Write } from '../base/transaction.ts'

export interface ShrinkOptions {
  /** Also does what blocks everything else for a while, if that is necessary. */
  thorough: boolean
  /** Only reports the size. */
  dryRun?: boolean
  /** Ends it between two steps. */
  signal?: AbortSignal
}

export interface Shrunk {
  beforeBytes: number
  afterBytes: number
}

export type Shrink = (options: ShrinkOptions) => Promise<Shrunk>

export interface DatabaseAccess {
  /** Carries out work in a transaction. */
  write: Write
  /** Carries out work outside of any transaction. */
  alone: (work: () => void) => Promise<void>
}
