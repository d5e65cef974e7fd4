import { uptime } from 'node:os'
import type { Clock } from '../core/clock.ts'

/** The one clock that reads the machine's time. `uptime` is CLOCK_BOOTTIME: it counts suspends too. */
export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => uptime() * 1000 }
