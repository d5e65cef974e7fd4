/** The daemon's log: one JSON line per entry on stderr, with secrets redacted. */
import { pino } from 'pino'
import { Redactor } from '../core/redact/redactor.ts'
import type { Log } from '../engine/base/log.ts'

export interface DaemonLog extends Log {
  /** Sets the redactor. Until then only texts that have the form of a secret are redacted. */
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
