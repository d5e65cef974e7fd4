import { uptime } from 'node:os'
import type { Clock } from '../core/clock.ts'

/** The only clock that reads the machine's time. `uptime` is CLOCK_BOOTTIME, which includes suspends. */
export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => uptime() * 1000 }
