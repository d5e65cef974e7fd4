/**
 * Detects that the home of a running daemon was removed or replaced. Clients cannot find such a daemon any more, and
 * its lock is gone with the directory, so another daemon may be started in the same place: this one must stop.
 *
 * present → (missing at one check) → suspected → (missing at the next check) → gone, reported once.
 */
import { identifyHome } from '../config/home.ts'

const LOOK_EVERY_MS = 1000

/** Returns a function that stops the checks. */
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
