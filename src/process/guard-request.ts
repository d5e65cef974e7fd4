/** The two files of one question of a guard, as guard.sh describes them. Nothing here waits, whatever lies there. */
import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface GuardRequest {
  id: string
  program: string
  /** What it would run. */
  realPath: string
  args: string[]
  /** Some argument is no UTF-8: what could not be read in it is replaced by U+FFFD. */
  garbled: boolean
  /** With links resolved. */
  cwd: string
  /** As the guard sees itself: of the process that becomes the program. */
  pid: number
}

export interface GuardAnswer {
  decision: 'allow' | 'deny'
  /** Shown to the agent if it is denied. */
  reason: string
}

export const askedDir = (dir: string) => join(dir, 'asked')

const REPLY = '.reply'
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

export const isRequestName = (name: string) => ID.test(name)

/** The request a reply belongs to, if this is the name of one. */
export const requestOfReply = (name: string): string | null =>
  name.endsWith(REPLY) && isRequestName(name.slice(0, -REPLY.length)) ? name.slice(0, -REPLY.length) : null

/** More than the kernel lets through to a program. */
const MAX_BYTES = 8 << 20

/** `incomplete`: the guard is still writing, or died while it did. */
export type Read =
  | { kind: 'request'; request: GuardRequest }
  | { kind: 'incomplete' }
  | { kind: 'unreadable' }
  | { kind: 'absent' }

export function readRequest(asked: string, id: string): Read {
  let file: number
  try {
    file = openSync(join(asked, id), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    return { kind: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'unreadable' }
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > MAX_BYTES) return { kind: 'unreadable' }
    const bytes = Buffer.alloc(stat.size)
    return parseRequest(id, bytes.subarray(0, readSync(file, bytes, 0, stat.size, 0)))
  } finally {
    closeSync(file)
  }
}

const HEADER = 5

function parseRequest(id: string, bytes: Buffer): Read {
  const fields: Buffer[] = []
  for (let from = 0, to: number; (to = bytes.indexOf(0, from)) !== -1; from = to + 1) {
    fields.push(bytes.subarray(from, to))
  }
  const [cwd = '', program = '', realPath = '', pid, count] = fields.slice(0, HEADER).map(String)
  const args = fields.slice(HEADER)
  if (count === undefined || args.length < Number(count)) return { kind: 'incomplete' }
  // A working directory that is gone is empty here.
  if (args.length !== Number(count) || !cwd.startsWith('/')) return { kind: 'unreadable' }
  const directory = cwd.replace(/\n$/, '')
  return {
    kind: 'request',
    request: {
      id,
      program,
      realPath: resolve(directory, realPath),
      args: args.map(String),
      garbled: !args.every((arg) => isUtf8(arg)),
      cwd: directory,
      pid: Number(pid),
    },
  }
}

/** Whether the guard still waits for its reply. One that has it, or was killed, does not. */
export const isWaiting = (asked: string, id: string): boolean => writeReply(asked, id, '')

/** False if the guard is gone: then it has started nothing, and will not. */
export const reply = (asked: string, id: string, answer: GuardAnswer): boolean =>
  writeReply(asked, id, answer.decision === 'allow' ? 'allow\n' : `deny ${escapeReason(answer.reason)}\n`)

function writeReply(asked: string, id: string, line: string): boolean {
  let fifo: number
  try {
    // Fails where nobody has it open for reading.
    fifo = openSync(
      join(asked, `${id}${REPLY}`),
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
    )
  } catch {
    return false
  }
  try {
    if (!fstatSync(fifo).isFIFO()) return false
    if (line !== '') writeSync(fifo, line)
    return true
  } catch {
    return false
  } finally {
    closeSync(fifo)
  }
}

export function removeRequest(asked: string, id: string): void {
  for (const name of [id, `${id}${REPLY}`]) {
    try {
      rmSync(join(asked, name), { force: true, recursive: true })
    } catch {
      // Put there by somebody else, and not to be removed: it stays.
    }
  }
}

/** Below what is written to a pipe at once or not at all, so that no guard reads half a line. */
const MAX_REASON_BYTES = 4000

/** On one line, for printf %b. Control characters have no business in a terminal. */
function escapeReason(reason: string): string {
  let escaped = ''
  let room = MAX_REASON_BYTES
  for (const character of reason) {
    const shown = ESCAPES[character] ?? (CONTROL.test(character) ? ' ' : character)
    room -= Buffer.byteLength(shown)
    if (room < 0) return `${escaped}…`
    escaped += shown
  }
  return escaped
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n' }
const CONTROL = /\p{Cc}/u
