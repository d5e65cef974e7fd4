/** One JSON line per entry on stderr. The daemon's stderr is its log, wherever that is sent. */
import { pino } from 'pino'
import type { Log } from '../engine/log.ts'

export function createLog(): Log {
  return pino(
    { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  )
}
