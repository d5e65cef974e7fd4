/**
 * The folder that the shims of an attempt share with the broker; shim.sh describes its files. The agent can write there whatever
 * it likes, so everything is opened without following links and without blocking, and its kind is checked after that.
 */
import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

export type StdinKind = 'open' | 'copied' | 'null' | 'closed'
export type OutputKind = 'open' | 'stdout' | 'closed'

export interface ShimRequest {
  program: string
  args: string[]
  /** An argument is not valid UTF-8; its invalid bytes have been replaced by U+FFFD. */
  garbled: boolean
  cwd: string
  pid: number
  stdin: StdinKind
  stdout: OutputKind
  stderr: OutputKind
}

/** `incomplete`: the shim is still writing, or died while writing. */
export type ReadRequest =
  | { kind: 'request'; request: ShimRequest }
  | { kind: 'incomplete'; bytes: number }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'absent' }

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const FIFOS = ['.reply', '.life', '.in', '.out', '.err']

/** More than the kernel's limit for the arguments of a program. */
const MAX_BYTES = 8 << 20

export const isCallId = (name: string) => ID.test(name)

export const askedDir = (shared: string) => join(shared, 'asked')

export const replyPath = (asked: string, id: string) => join(asked, `${id}.reply`)

export function listRequests(asked: string): string[] {
  try {
    return readdirSync(asked).filter(isCallId)
  } catch {
    return []
  }
}

export function readRequest(asked: string, id: string): ReadRequest {
  let file: number
  try {
    file = openSync(join(asked, id), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'absent' }
    return { kind: 'unreadable', reason: 'the request cannot be opened' }
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return { kind: 'unreadable', reason: 'the request is not a file' }
    if (stat.size > MAX_BYTES) return { kind: 'unreadable', reason: 'the request is too large' }
    const bytes = Buffer.alloc(stat.size)
    return parseRequest(bytes.subarray(0, readSync(file, bytes, 0, stat.size, 0)))
  } finally {
    closeSync(file)
  }
}

const HEADER = 7

function parseRequest(bytes: Buffer): ReadRequest {
  const fields: Buffer[] = []
  for (let from = 0, to: number; (to = bytes.indexOf(0, from)) !== -1; from = to + 1) {
    fields.push(bytes.subarray(from, to))
  }
  const [cwd = '', program = '', pid = '', stdin = '', stdout = '', stderr = '', count] = fields
    .slice(0, HEADER)
    .map(String)
  const args = fields.slice(HEADER)
  if (count === undefined || args.length < Number(count)) return { kind: 'incomplete', bytes: bytes.length }
  const isSound =
    args.length === Number(count) &&
    /^[1-9]\d{0,9}$/.test(pid) &&
    isStdinKind(stdin) &&
    isOutputKind(stdout) &&
    isOutputKind(stderr)
  // The working directory is empty if it has been deleted.
  if (!isSound || !cwd.startsWith('/')) {
    return {
      kind: 'unreadable',
      reason: isSound ? 'the working directory is gone' : 'the request is malformed',
    }
  }
  return {
    kind: 'request',
    request: {
      program,
      args: args.map(String),
      garbled: !args.every((arg) => isUtf8(arg)),
      cwd: cwd.replace(/\n$/, ''),
      pid: Number(pid),
      ...{ stdin, stdout, stderr },
    },
  }
}

const isStdinKind = (text: string): text is StdinKind => ['open', 'copied', 'null', 'closed'].includes(text)
const isOutputKind = (text: string): text is OutputKind => ['open', 'stdout', 'closed'].includes(text)

/** Whether the shim is still there: it has neither ended nor been killed. */
export const isWaiting = (asked: string, id: string): boolean => writeReply(asked, id, '')

/**
 * Wakes the shim, which does nothing else about it. A shell that receives a signal just before it waits for a line handles the signal only
 * after that line.
 */
export const wake = (asked: string, id: string): boolean => writeReply(asked, id, 'wake\n')

/** Ends the shim with this code and message. Returns false if it has ended already. */
export const replyFailure = (asked: string, id: string, code: number, text: string): boolean =>
  writeReply(asked, id, `fail ${code} ${escapeText(text)}\n`)

export const replyExit = (asked: string, id: string, code: number, after: string): boolean =>
  writeReply(asked, id, `exit ${code} ${after}\n`)

function writeReply(asked: string, id: string, line: string): boolean {
  let fifo: number
  try {
    // Fails if no process has the FIFO open for reading.
    fifo = openSync(replyPath(asked, id), constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
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

/** Returns false if there was no such request, because another desk has taken it. */
export const removeRequest = (asked: string, id: string): boolean => unlinkQuietly(join(asked, id))

export function removeFifos(asked: string, id: string): void {
  for (const suffix of FIFOS) unlinkQuietly(join(asked, `${id}${suffix}`))
}

/** A folder that the agent has put there stays: it can be of any size. */
function unlinkQuietly(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch {
    return false
  }
}

/** Below PIPE_BUF, so that the write is atomic and no shim reads half a line. */
const MAX_TEXT_BYTES = 4000

/** Makes the text one line for printf %b, and removes control characters, which could affect a terminal. */
function escapeText(text: string): string {
  let escaped = ''
  let room = MAX_TEXT_BYTES
  for (const character of text) {
    const shown = ESCAPES[character] ?? (CONTROL.test(character) ? ' ' : character)
    room -= Buffer.byteLength(shown)
    if (room < 0) return `${escaped}…`
    escaped += shown
  }
  return escaped
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n' }
const CONTROL = /\p{Cc}/u
