/**
 * The interface by which code gets the time. Only the composition root has an implementation that reads the machine's
 * clock.
 */
export interface Clock {
  /** The time of day. */
  now: () => Date
  /**
   * The time since boot, including suspends. Setting the time of day does not change it. Only differences are
   * meaningful.
   */
  monotonicMs: () => number
}
