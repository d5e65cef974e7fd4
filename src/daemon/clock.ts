import { uptime } from 'node:os'
import type { Clock } from '../core/clock.ts'

/** The one clock that reads the machine's time. */
export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => uptime() * 1000 }
