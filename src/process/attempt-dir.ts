/**
 * The folder of one attempt, `spool/<attempt id>/`, through which the keeper and the daemon communicate. keeper.sh
 * lists the files in it. The daemon that prepares the folder, the one that reads it and the one that recovers it may be
 * three different processes.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdir, open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isTemporaryCode } from '../core/system-error.ts'
import { withSpareDescriptor } from './spare-descriptor.ts'

export interface StdinMessage {
  /** A message with the same id is delivered only once per attempt. */
  id: string
  line: string
}

export interface AttemptDir {
  path: string
  out: string
  err: string
}

export function attemptDir(spool: string, attemptId: string): AttemptDir {
  const path = join(spool, attemptId)
  return { path, out: join(path, 'out'), err: join(path, 'err') }
}

const SEED = 'seed.json'
/** The keeper's own stderr, which it keeps open from its start to its end. */
export const KEEPER_LOG = 'keeper.log'

/**
 * What the reader of the output needs to rebuild the state of the agent's protocol. Written before the agent starts.
 */
export type ProtocolSeed = Readonly<Record<string, unknown>>

export function readSeed(dir: AttemptDir): ProtocolSeed {
  const text = readText(join(dir.path, SEED))
  return text === '' ? {} : (JSON.parse(text) as ProtocolSeed)
}

/** Makes the folder with the first messages in it. Must be called before the keeper is started. */
export function prepare(
  dir: AttemptDir,
  messages: readonly StdinMessage[],
  seed: ProtocolSeed | null = null,
): void {
  // Synchronous: for a dozen small calls, asynchronous I/O would cost more than the calls themselves.
  for (const folder of ['', 'q', 'sent']) mkdirSync(join(dir.path, folder), { recursive: true, mode: 0o700 })
  closeSync(openSync(dir.out, 'a', 0o600))
  if (seed !== null) writeFileSync(join(dir.path, SEED), JSON.stringify(seed), { mode: 0o600 })
  for (const [index, message] of messages.entries()) {
    writeFileSync(join(dir.path, 'q', queuedName(index + 1, message)), `${message.line}\n`, { mode: 0o600 })
  }
}

/** Resolves when the message is queued: the feeder will deliver it even if this process dies now. */
export async function deliver(dir: AttemptDir, message: StdinMessage): Promise<void> {
  enqueue(dir, message)
  poke(dir)
}

const CLOSE = 'stdin.close'

/** Closes the agent's stdin after all messages queued so far have been written to it. */
export async function closeInput(dir: AttemptDir): Promise<void> {
  writeQueued(dir, CLOSE, '')
  poke(dir)
}

/**
 * Whether it is expected that no process feeds the agent's stdin: we closed it, the agent stopped reading, or it has
 * ended.
 */
export async function isInputOver(dir: AttemptDir): Promise<boolean> {
  const marks = names(dir, '')
  if (marks.includes('ended') || marks.includes('unread')) return true
  return names(dir, 'q').includes(CLOSE) || names(dir, 'sent').includes(CLOSE)
}

/** Wakes the feeder. Safe at any time; needed if a daemon died between writing a message and waking the feeder. */
export function poke(dir: AttemptDir): void {
  let fifo: number
  try {
    // Read-write, so that opening the FIFO neither blocks nor fails while it has no reader.
    fifo = openSync(join(dir.path, 'poke'), constants.O_RDWR | constants.O_NONBLOCK)
  } catch (error) {
    if (isTemporaryCode((error as NodeJS.ErrnoException).code)) throw error
    return
  }
  try {
    writeSync(fifo, '\n')
  } catch (error) {
    // The FIFO is full: the feeder is busy and will check the queue again afterwards.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
  } finally {
    closeSync(fifo)
  }
}

/** Synchronous, because an agent waits for it, and asynchronous I/O would cost more than these small calls. */
function enqueue(dir: AttemptDir, message: StdinMessage): void {
  const same = toldApartBy(queuedName(0, message))
  // In this order: a message that the feeder is moving is seen in at least one of the folders.
  const known = [...names(dir, 'q'), ...names(dir, 'sent')]
  if (known.some((name) => toldApartBy(name) === same)) return
  const numbers = known.map((name) => Number.parseInt(name, 10)).filter(Number.isInteger)
  writeQueued(dir, queuedName(Math.max(0, ...numbers) + 1, message), `${message.line}\n`)
}

/** Whether a message with this id was queued before. */
export function hasMessage(dir: AttemptDir, id: string): boolean {
  const same = toldApartBy(queuedName(0, { id, line: '' }))
  return [...names(dir, 'q'), ...names(dir, 'sent')].some((name) => toldApartBy(name) === same)
}

const DIGITS = 6
const SHORT_CHARS = 2000

/** The feeder delivers messages in the order of their file names. */
function queuedName(number: number, { id, line }: StdinMessage): string {
  const kind = line.length < SHORT_CHARS && !line.includes('\n') ? '.short' : ''
  return `${String(number).padStart(DIGITS, '0')}-${id.replace(/[^\w-]/g, '_')}${kind}`
}

/**
 * Identifies a message by its id. The suffix for short messages is ignored: a text that contains the time may have
 * grown since it was first queued.
 */
const toldApartBy = (name: string) => name.slice(DIGITS).replace(/\.short$/, '')

function writeQueued(dir: AttemptDir, name: string, text: string): void {
  const draft = join(dir.path, `draft-${randomUUID()}`)
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, join(dir.path, 'q', name))
}

function names(dir: AttemptDir, folder: string): string[] {
  try {
    return withSpareDescriptor(() => readdirSync(join(dir.path, folder)))
  } catch (error) {
    if (isTemporaryCode((error as NodeJS.ErrnoException).code)) throw error
    return []
  }
}

export interface ExitRecord {
  code: number
  /** The feeder died before stdin was closed, so the agent may have taken the end of its stdin for an answer. */
  starved: boolean
}

/** Synchronous: it is called on every change hint, and the file mostly does not exist yet. */
export function readExit(dir: AttemptDir): ExitRecord | null {
  const path = join(dir.path, 'exit')
  if (!existsSync(path)) return null
  const text = readText(path)
  const [, code, starved] = /^(\d+)( starved)?\n$/.exec(text) ?? []
  return code === undefined ? null : { code: Number(code), starved: starved !== undefined }
}

/** Whether the file of the exit code was made, but nothing could be written to it. */
export const hasEmptyExit = (dir: AttemptDir): boolean =>
  statSync(join(dir.path, 'exit'), { throwIfNoEntry: false })?.size === 0

function readText(path: string): string {
  try {
    return withSpareDescriptor(() => readFileSync(path, 'utf8'))
  } catch (error) {
    if (isTemporaryCode((error as NodeJS.ErrnoException).code)) throw error
    return ''
  }
}

export const readKeeperPid = (dir: AttemptDir) => readPid(dir, 'keeper')
export const readFeederPid = (dir: AttemptDir) => readPid(dir, 'feeder')

async function readPid(dir: AttemptDir, name: string): Promise<number | null> {
  const text = readText(join(dir.path, name))
  return /^\d+\n$/.test(text) ? Number(text) : null
}

/** The number of bytes that the agent has printed. */
export const sizeOf = (dir: AttemptDir): Promise<number> =>
  stat(dir.out).then(
    ({ size }) => size,
    () => 0,
  )

/** When the attempt last wrote its output or its exit record. */
export async function lastWriteOf(dir: AttemptDir): Promise<Date | null> {
  const times = await Promise.all(
    [dir.out, join(dir.path, 'exit')].map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  const last = Math.max(...times)
  return last > 0 ? new Date(last) : null
}

/** Makes sure that the agent is never started. Returns false if its keeper has already started it. */
export async function revoke(dir: AttemptDir): Promise<boolean> {
  await mkdir(dir.path, { recursive: true, mode: 0o700 })
  return writeFile(join(dir.path, 'started'), '', { flag: 'wx', mode: 0o600 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
}

const STDERR_TAIL = 8192

/** The end of what the agent wrote to stderr. If it wrote nothing, the keeper may say why it could not be started. */
export async function readStderrTail(dir: AttemptDir): Promise<string> {
  return (await readTail(dir.err)) || readTail(join(dir.path, KEEPER_LOG))
}

async function readTail(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null)
  if (file === null) return ''
  try {
    const { size } = await file.stat()
    const length = Math.min(size, STDERR_TAIL)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
