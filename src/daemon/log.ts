/**
 * The daemon's log: one JSON line per entry on stderr, with secrets redacted.
 *
 * Logging never fails and never ends the daemon: if stderr refuses an entry (the disk is full, its reader is gone), the
 * entry is dropped, and the next entry that can be written says how many were.
 */
import { writeSync } from 'node:fs'
import { pino } from 'pino'
import { Redactor } from '../core/redact/redactor.ts'
import type { EngineLog } from '../library/log.ts'

const STDERR = 2

export type WriteBytes = (bytes: Uint8Array) => number

export function createLog(write: WriteBytes = (bytes) => writeSync(STDERR, bytes)): EngineLog {
  const lines = new LineWriter(write)
  let redactor = new Redactor({ builtIn: true, patterns: [], values: [] })
  const log = pino(
    { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => lines.write(redactor.json(line)) },
  )
  return Object.assign(log, {
    redactWith: (known: Redactor) => {
      redactor = known
    },
  })
}

class LineWriter {
  readonly #write: WriteBytes
  #dropped = 0
  /** The last line was written only in part, so the next one begins with a newline. */
  #isTorn = false

  constructor(write: WriteBytes) {
    this.#write = write
  }

  write(line: string): void {
    const missing =
      this.#dropped === 0
        ? ''
        : `${JSON.stringify({ level: 40, dropped: this.#dropped, msg: 'log entries were dropped' })}\n`
    if (this.#writeAll(`${this.#isTorn ? '\n' : ''}${missing}${line}`)) {
      this.#dropped = 0
      this.#isTorn = false
    } else this.#dropped++
  }

  #writeAll(text: string): boolean {
    let rest: Uint8Array = Buffer.from(text)
    const length = rest.length
    try {
      while (rest.length > 0) {
        const written = this.#write(rest)
        if (written === 0) throw new Error('nothing could be written')
        rest = rest.subarray(written)
      }
      return true
    } catch {
      this.#isTorn ||= rest.length < length
      return false
    }
  }
}
