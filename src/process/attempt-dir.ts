/**
 * The folder of one attempt, `spool/<attempt id>/`: everything the keeper and a daemon say to each other. See
 * keeper.sh for what is in it. The daemon that prepares it, the one that reads it and the one that recovers it may be
 * three different processes.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
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

/** Makes the folder with the first messages in it. Must come before the keeper is started. */
export function prepare(dir: AttemptDir, messages: readonly StdinMessage[]): void {
  // Synchronous: a dozen small calls, each of which would take longer to hand over than to make.
  for (const folder of ['', 'q', 'sent']) mkdirSync(join(dir.path, folder), { recursive: true, mode: 0o700 })
  closeSync(openSync(dir.out, 'a', 0o600))
  for (const [index, message] of messages.entries()) {
    writeFileSync(join(dir.path, 'q', queuedName(index + 1, message)), `${message.line}\n`, { mode: 0o600 })
  }
}

/** Resolves when the message is on its way: the feeder will deliver it even if this process dies now. */
export async function deliver(dir: AttemptDir, message: StdinMessage): Promise<void> {
  await enqueue(dir, message)
  await poke(dir)
}

const CLOSE = 'stdin.close'

/** Ends the agent's stdin once everything before has been fed to it. */
export async function closeInput(dir: AttemptDir): Promise<void> {
  await writeQueued(dir, CLOSE, '')
  await poke(dir)
}

/** That its stdin is no longer fed is as it should be: we closed it, or the agent reads no more, or has ended. */
export async function isInputOver(dir: AttemptDir): Promise<boolean> {
  const marks = await names(dir, '')
  if (marks.includes('ended') || marks.includes('unread')) return true
  return (await names(dir, 'q')).includes(CLOSE) || (await names(dir, 'sent')).includes(CLOSE)
}

/** Wakes the feeder. Harmless at any time; needed after a daemon died between writing a message and waking it. */
export async function poke(dir: AttemptDir): Promise<void> {
  // Read-write, so that opening neither blocks nor fails while nobody reads.
  const fifo = await open(join(dir.path, 'poke'), constants.O_RDWR | constants.O_NONBLOCK).catch(() => null)
  if (fifo === null) return
  try {
    await fifo.write('\n')
  } catch (error) {
    // Full: the feeder is busy, and will look again when it is not.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
  } finally {
    await fifo.close()
  }
}

async function enqueue(dir: AttemptDir, message: StdinMessage): Promise<void> {
  const suffix = queuedName(0, message).slice(DIGITS)
  const known = [...(await names(dir, 'q')), ...(await names(dir, 'sent'))]
  if (known.some((name) => name.slice(DIGITS) === suffix)) return
  await writeQueued(dir, queuedName(known.length + 1, message), `${message.line}\n`)
}

const DIGITS = 6

/** In the order of their names messages are fed; by what follows the number they are told apart. */
function queuedName(number: number, { id }: StdinMessage): string {
  return `${String(number).padStart(DIGITS, '0')}-${id.replace(/[^\w-]/g, '_')}`
}

async function writeQueued(dir: AttemptDir, name: string, text: string): Promise<void> {
  const draft = join(dir.path, `draft-${randomUUID()}`)
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, join(dir.path, 'q', name))
}

const names = (dir: AttemptDir, folder: string): Promise<string[]> =>
  readdir(join(dir.path, folder)).catch(() => [])

export interface ExitRecord {
  code: number
  /** Its stdin was no longer fed, and nobody had closed it: what it took for answers may have been none. */
  starved: boolean
}

export async function readExit(dir: AttemptDir): Promise<ExitRecord | null> {
  const text = await readFile(join(dir.path, 'exit'), 'utf8').catch(() => '')
  const [, code, starved] = /^(\d+)( starved)?\n?$/.exec(text) ?? []
  return code === undefined ? null : { code: Number(code), starved: starved !== undefined }
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
  return mkdir(join(dir.path, 'started')).then(
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
