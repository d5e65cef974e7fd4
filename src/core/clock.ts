/** The time, as whoever needs it gets it. Only the composition root has one that reads the machine's. */
export interface Clock {
  now: () => Date
  /** What passes, whatever is done to the time of day. Only differences mean anything. */
  monotonicMs: () => number
}
