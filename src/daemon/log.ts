/** The daemon's log: one JSON line per entry on stderr, with secrets redacted. */
import { pino } from 'pino'
import { Redactor } from '../core/redact/redactor.ts'
import type { EngineLog } from '../library/log.ts'

export function createLog(): EngineLog {
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
