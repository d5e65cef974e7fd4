/** A line of the daemon's log as people read it: local time, level, message, then the fields. */
import type { Style } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'

type Entry = Readonly<Record<string, unknown>> & { time?: unknown; level?: unknown; msg?: unknown }

/** The levels of pino. */
const LEVELS: readonly (readonly [number, string])[] = [
  [60, 'fatal'],
  [50, 'error'],
  [40, 'warn'],
  [30, 'info'],
]

/** Lines that are not entries, such as a stack trace of Node, are returned as they are. */
export function describeLogLine(line: string, style: Style, now: Date): string {
  const entry = parseEntry(line)
  if (!entry) return style.safe(line)
  const { time, level, msg, ...fields } = entry
  const name = LEVELS.find(([least]) => Number(level) >= least)?.[1] ?? 'debug'
  const paint = name === 'info' ? style.dim : name === 'warn' ? style.yellow : style.red
  const at = typeof time === 'string' ? `${formatTime(time, now)} ` : ''
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`)
  const message = style.safe(typeof msg === 'string' ? msg : '')
  const details = rest.length === 0 ? '' : ` ${style.dim(style.safe(rest.join(' ')))}`
  return `${style.dim(at)}${paint(name.padEnd(5))} ${message}${details}`
}

/** The raw entry; a line that is not one becomes the message of one. */
export function toLogEntry(line: string): Entry {
  return parseEntry(line) ?? { msg: line }
}

function parseEntry(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : null
  } catch {
    return null
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value
  return JSON.stringify(value)
}
