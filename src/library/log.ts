/** The log of an engine in process: entries go to a callback, with secrets redacted; without a callback nowhere. */
import { Redactor } from '../core/redact/redactor.ts'
import type { Log } from '../engine/base/log.ts'

/** The log of an engine, which learns the secrets that it must redact while the engine is being opened. */
export interface EngineLog extends Log {
  /** Sets the redactor. Until then only texts that have the form of a secret are redacted. */
  redactWith: (redactor: Redactor) => void
}

export interface LogEntry {
  level: 'info' | 'warn' | 'error'
  message: string
  /** Depends on the message. */
  fields: Readonly<Record<string, unknown>>
}

export type LogCallback = (entry: LogEntry) => void

export function createCallbackLog(callback: LogCallback | undefined): EngineLog {
  let redactor = new Redactor({ builtIn: true, patterns: [], values: [] })
  const write = (level: LogEntry['level']) => (fields: object, message: string) => {
    if (!callback) return
    try {
      callback(JSON.parse(redactor.json(JSON.stringify({ level, message, fields }, withErrors))) as LogEntry)
    } catch {
      // A callback that throws must not affect the run that was logged about.
    }
  }
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    redactWith: (known) => {
      redactor = known
    },
  }
}

/** JSON leaves out what an error says. */
const withErrors = (_key: string, value: unknown) =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value
