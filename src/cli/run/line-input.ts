/** Lines that a person types while a run is followed. */
import type { Keys } from '../terminal/keys.ts'
import type { RunView } from './view.ts'

export interface LineInput {
  keys: Keys
  /** The view that shows the run, and null after its end. */
  showIn: (view: Pick<RunView, 'note' | 'showTyped'> | null) => void
}
