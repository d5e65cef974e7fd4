/**
 * Reads and writes the two files of a guard's question; guard.sh describes them. Nothing here blocks, whatever the
 * files contain.
 */
import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface GuardRequest {
  id: string
  program: string
  /** The program that the guard would run. */
  realPath: string
  args: string[]
  /** An argument is not valid UTF-8; invalid bytes have been replaced by U+FFFD. */
  garbled: boolean
  /** With symlinks resolved. */
  cwd: string
  /** The guard's own pid, which is also that of the program if it is allowed. */
  pid: number
}

export interface GuardAnswer {
  decision: 'allow' | 'deny'
  /** Shown to the agent when the program is denied. */
  reason: string
}

export const askedDir = (dir: string) => join(dir, 'asked')

const REPLY = '.reply'
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

export const isRequestName = (name: string) => ID.test(name)

/** The id of the request that a reply file belongs to; null if the name is not that of a reply file. */
export const requestOfReply = (name: string): string | null =>
  name.endsWith(REPLY) && isRequestName(name.slice(0, -REPLY.length)) ? name.slice(0, -REPLY.length) : null

/** More than the kernel's limit for the arguments of a program. */
const MAX_BYTES = 8 << 20

/** `incomplete`: the guard is still writing the file, or died while writing it. */
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
  // `cwd` is empty if the working directory has been deleted.
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

/** Whether the guard is still waiting for its reply: it has neither received one nor been killed. */
export const isWaiting = (asked: string, id: string): boolean => writeReply(asked, id, '')

/** Returns false if the guard has ended: it has not started the program and will not. */
export const reply = (asked: string, id: string, answer: GuardAnswer): boolean =>
  writeReply(asked, id, answer.decision === 'allow' ? 'allow\n' : `deny ${escapeReason(answer.reason)}\n`)

function writeReply(asked: string, id: string, line: string): boolean {
  let fifo: number
  try {
    // Fails if no process has the FIFO open for reading.
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
      // Somebody else put it there and it cannot be removed: leave it.
    }
  }
}

/** Below PIPE_BUF, so that the write is atomic and no guard reads half a line. */
const MAX_REASON_BYTES = 4000

/** Makes the reason one line for printf %b, and removes control characters, which could affect a terminal. */
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
