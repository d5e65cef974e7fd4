/**
 * Waits for a notice that there may be something new. The notice only ends a wait; what is new is always looked up,
 * so losing a notice costs time and nothing else. Call `rearm` before looking, and `wait` after.
 */
export function listenFor(subscribe: (listener: () => void) => () => void) {
  let notice = Promise.withResolvers<true>()
  const close = subscribe(() => notice.resolve(true))
  return {
    close,
    rearm: () => {
      notice = Promise.withResolvers<true>()
    },
    /** Resolves to true on a notice since `rearm`, to false after the time or when the stream has ended. */
    wait: async (ms: number, ended: AbortSignal): Promise<boolean> => {
      const { promise: idle, resolve } = Promise.withResolvers<false>()
      const stop = () => resolve(false)
      const timer = setTimeout(stop, ms)
      ended.addEventListener('abort', stop, { once: true })
      if (ended.aborted) stop()
      try {
        return await Promise.race([notice.promise, idle])
      } finally {
        clearTimeout(timer)
        ended.removeEventListener('abort', stop)
      }
    },
  }
}

/** How a reader follows. */
export interface FollowContext {
  /** After this time without anything new, an empty page is yielded. */
  heartbeatMs: number
  /** Aborted when the reader has left, or when all readers are to end. */
  ended: AbortSignal
}
