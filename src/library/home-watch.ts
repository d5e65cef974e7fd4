/**
 * Notices that the home of an engine has been removed, renamed or replaced. Such an engine can no longer write to its
 * home, and its lock is gone with the directory, so that another one may be opened in the same place: it must end. After
 * a rename, the next command that uses the new path starts a daemon there.
 *
 * there → (missing at one look) → doubtful → (missing at the next look) → gone; `onGone` is called once.
 */
import { identifyHome } from '../config/home.ts'

const LOOK_EVERY_MS = 1000

export interface HomeWatch {
  /** Whether the home is at its path right now. A daemon without its home answers nobody who looks for it. */
  isInPlace: () => boolean
  stop: () => void
}

export function watchHome(home: string, onGone: () => void): HomeWatch {
  const own = identifyHome(home)
  const isInPlace = () => identifyHome(home) === own
  let wasMissing = false
  const timer = setInterval(() => {
    const isMissing = !isInPlace()
    if (isMissing && wasMissing) {
      clearInterval(timer)
      onGone()
    }
    wasMissing = isMissing
  }, LOOK_EVERY_MS)
  timer.unref()
  return { isInPlace, stop: () => clearInterval(timer) }
}
