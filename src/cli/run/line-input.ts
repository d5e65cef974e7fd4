/** Lines that a person types while a run is followed. */
import type { Keys } from '../terminal/keys.ts'
import type { RunView } from './view.ts'

/** The line that is being typed, before and after the cursor. */
export interface Typed {
  before: string
  after: string
}

export interface LineInput {
  keys: Keys
  /** The view that shows the run, and null after its end. */
  showIn: (view: Pick<RunView, 'note' | 'showTyped'> | null) => void
}
