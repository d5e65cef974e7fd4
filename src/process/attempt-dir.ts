/**
 * The folder of one attempt, `spool/<attempt id>/`: everything the keeper and a daemon say to each other. See
 * keeper.sh for what is in it. The daemon that prepares it, the one that reads it and the one that recovers it may be
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
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface StdinMessage {
  /** Delivered once per attempt, however often it is given. */
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

/** What the reader of the output must know to rebuild the state of the agent's protocol; written before the agent starts. */
type ProtocolSeed = Readonly<Record<string, unknown>>

export function readSeed(dir: AttemptDir): ProtocolSeed {
  const text = readText(join(dir.path, SEED))
  return text === '' ? {} : (JSON.parse(text) as ProtocolSeed)
}

/** Makes the folder with the first messages in it. Must come before the keeper is started. */
export function prepare(
  dir: AttemptDir,
  messages: readonly StdinMessage[],
  seed: ProtocolSeed | null = null,
): void {
  // Synchronous: a dozen small calls, each of which would take longer to hand over than to make.
  for (const folder of ['', 'q', 'sent']) mkdirSync(join(dir.path, folder), { recursive: true, mode: 0o700 })
  closeSync(openSync(dir.out, 'a', 0o600))
  if (seed !== null) writeFileSync(join(dir.path, SEED), JSON.stringify(seed), { mode: 0o600 })
  for (const [index, message] of messages.entries()) {
    writeFileSync(join(dir.path, 'q', queuedName(index + 1, message)), `${message.line}\n`, { mode: 0o600 })
  }
}

/** Resolves when the message is on its way: the feeder will deliver it even if this process dies now. */
export async function deliver(dir: AttemptDir, message: StdinMessage): Promise<void> {
  enqueue(dir, message)
  poke(dir)
}

const CLOSE = 'stdin.close'

/** Ends the agent's stdin once everything before has been fed to it. */
export async function closeInput(dir: AttemptDir): Promise<void> {
  writeQueued(dir, CLOSE, '')
  poke(dir)
}

/** That its stdin is no longer fed is as it should be: we closed it, or the agent reads no more, or has ended. */
export async function isInputOver(dir: AttemptDir): Promise<boolean> {
  const marks = names(dir, '')
  if (marks.includes('ended') || marks.includes('unread')) return true
  return names(dir, 'q').includes(CLOSE) || names(dir, 'sent').includes(CLOSE)
}

/** Wakes the feeder. Harmless at any time; needed after a daemon died between writing a message and waking it. */
export function poke(dir: AttemptDir): void {
  let fifo: number
  try {
    // Read-write, so that opening neither blocks nor fails while nobody reads.
    fifo = openSync(join(dir.path, 'poke'), constants.O_RDWR | constants.O_NONBLOCK)
  } catch {
    return
  }
  try {
    writeSync(fifo, '\n')
  } catch (error) {
    // Full: the feeder is busy, and will look again when it is not.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
  } finally {
    closeSync(fifo)
  }
}

/** Synchronous, as all here that an agent waits for: small calls, each of which would take longer to hand over than to make. */
function enqueue(dir: AttemptDir, message: StdinMessage): void {
  const same = toldApartBy(queuedName(0, message))
  // In this order: what is being moved is seen in at least one of them.
  const known = [...names(dir, 'q'), ...names(dir, 'sent')]
  if (known.some((name) => toldApartBy(name) === same)) return
  const numbers = known.map((name) => Number.parseInt(name, 10)).filter(Number.isInteger)
  writeQueued(dir, queuedName(Math.max(0, ...numbers) + 1, message), `${message.line}\n`)
}

const DIGITS = 6
const SHORT_CHARS = 2000

/** In the order of their names messages are fed. */
function queuedName(number: number, { id, line }: StdinMessage): string {
  const kind = line.length < SHORT_CHARS && !line.includes('\n') ? '.short' : ''
  return `${String(number).padStart(DIGITS, '0')}-${id.replace(/[^\w-]/g, '_')}${kind}`
}

/** Not by their length: a text with the time in it may have grown since it was given first. */
const toldApartBy = (name: string) => name.slice(DIGITS).replace(/\.short$/, '')

function writeQueued(dir: AttemptDir, name: string, text: string): void {
  const draft = join(dir.path, `draft-${randomUUID()}`)
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, join(dir.path, 'q', name))
}

function names(dir: AttemptDir, folder: string): string[] {
  try {
    return readdirSync(join(dir.path, folder))
  } catch {
    return []
  }
}

export interface ExitRecord {
  code: number
  /** Its stdin was no longer fed, and nobody had closed it: what it took for answers may have been none. */
  starved: boolean
}

/** Synchronous: it is looked for at every hint, and mostly not there. */
export function readExit(dir: AttemptDir): ExitRecord | null {
  const path = join(dir.path, 'exit')
  if (!existsSync(path)) return null
  const text = readText(path)
  const [, code, starved] = /^(\d+)( starved)?\n$/.exec(text) ?? []
  return code === undefined ? null : { code: Number(code), starved: starved !== undefined }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export const readKeeperPid = (dir: AttemptDir) => readPid(dir, 'keeper')
export const readFeederPid = (dir: AttemptDir) => readPid(dir, 'feeder')

async function readPid(dir: AttemptDir, name: string): Promise<number | null> {
  const text = await readFile(join(dir.path, name), 'utf8').catch(() => '')
  return /^\d+\n$/.test(text) ? Number(text) : null
}

/** How many bytes the agent has printed. */
export const sizeOf = (dir: AttemptDir): Promise<number> =>
  stat(dir.out).then(
    ({ size }) => size,
    () => 0,
  )

/** When the attempt last wrote something: output, or how it ended. */
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

/** True if the agent was never started and now never will be; false if its keeper came first. */
export async function revoke(dir: AttemptDir): Promise<boolean> {
  await mkdir(dir.path, { recursive: true, mode: 0o700 })
  return writeFile(join(dir.path, 'started'), '', { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
}

const STDERR_TAIL = 8192

export async function readStderrTail(dir: AttemptDir): Promise<string> {
  const file = await open(dir.err, 'r').catch(() => null)
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
