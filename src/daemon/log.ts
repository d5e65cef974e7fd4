/** One JSON line per entry on stderr, without secrets. The daemon's stderr is its log, wherever that is sent. */
import { pino } from 'pino'
import { Redactor } from '../core/redact/redactor.ts'
import type { Log } from '../engine/base/log.ts'

export interface DaemonLog extends Log {
  /** From now on. Before, only what has the form of a secret is known for one. */
  redactWith: (redactor: Redactor) => void
}

export function createLog(): DaemonLog {
  const stderr = pino.destination({ fd: 2, sync: true })
  let redactor = new Redactor({ builtIn: true, patterns: [], values: [] })
  const log = pino(
    { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => void stderr.write(redactor.json(line)) },
  )
  return Object.assign(log, {
    redactWith: (known: Redactor) => {
      redactor = known
    },
  })
}
