/**
 * Notices that the home of a running daemon has been removed or replaced. Nobody can find such a daemon any more, and
 * its lock is gone with the directory, so that another one may be started in the same place: it must end.
 *
 * there → (missing at one look) → doubtful → (missing at the next look) → gone, told once.
 */
import { identifyHome } from '../config/home.ts'

const LOOK_EVERY_MS = 1000

/** Returns what stops looking. */
export function watchHome(home: string, onGone: () => void): () => void {
  const own = identifyHome(home)
  let wasMissing = false
  const timer = setInterval(() => {
    const isMissing = identifyHome(home) !== own
    if (isMissing && wasMissing) {
      clearInterval(timer)
      onGone()
    }
    wasMissing = isMissing
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
