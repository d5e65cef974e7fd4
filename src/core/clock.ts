/** The machine's time, as whoever needs it gets it. Only the composition root has one that reads the machine's. */
export interface Clock {
  /** The time of day. */
  now: () => Date
  /** The time since boot, suspends included: what passes, whatever is done to the time of day. Only differences mean anything. */
  monotonicMs: () => number
}
