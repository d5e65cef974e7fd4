/**
 * Follows an attempt's output file and its exit. The reader sets the pace and nothing is read ahead, so a slow reader
 * neither slows the agent (it writes to a file) nor uses more memory.
 *
 * Change notifications are only hints; the file is also polled at least every `POLL_MS`.
 */
import type { FSWatcher } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import {
  type AttemptDir,
  type ExitRecord,
  hasEmptyExit,
  isInputOver,
  readExit,
  readFeederPid,
} from './attempt-dir.ts'
import { FIRST_CHUNK, nextChunkSize } from './chunk-size.ts'
import { identify, isAlive, type ProcessIdentity } from './proc.ts'
import { watchQuietly } from './watch.ts'

const POLL_MS = 500
/** How often to check that the processes are still alive. */
const LOOK_MS = 200

/**
 * `exited`: the keeper wrote the exit code. `lost`: the keeper died without writing it, or the feeder died and the
 * agent cannot be sent anything any more; processes of the attempt may still be alive then. In both cases `starved`
 * says that the agent lost its input while the keeper was alive: what the agent printed after that cannot be trusted.
 * `unwritten` says that the keeper could not write the exit code, because the disk was full.
 */
export type TailEnd =
  | ({ kind: 'exited' } & ExitRecord)
  | { kind: 'lost'; starved: boolean; unwritten?: boolean }

export class Tail {
  readonly #dir: AttemptDir
  readonly #keeper: ProcessIdentity
  readonly #watcher: FSWatcher | null
  #file: FileHandle | null = null
  #offset: number
  #chunk = FIRST_CHUNK
  #feeder: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  #wake: (() => void) | null = null
  #hinted = false

  constructor(dir: AttemptDir, keeper: ProcessIdentity, offset: number) {
    this.#dir = dir
    this.#keeper = keeper
    this.#offset = offset
    this.#watcher = watchQuietly(dir.path, () => this.#hint())
  }

  /** Makes the reader check the file and the processes now. */
  nudge(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY
    this.#hint()
  }

  #hint(): void {
    this.#hinted = true
    this.#wake?.()
  }

  /** Returns the next bytes, or null if there are none now. The caller owns the buffer. */
  async read(): Promise<Buffer | null> {
    this.#file ??= await open(this.#dir.out, 'r')
    const size = this.#chunk
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(size), 0, size, this.#offset)
    this.#offset += bytesRead
    this.#chunk = nextChunkSize(size, bytesRead)
    if (bytesRead === 0) return null
    const bytes = buffer.subarray(0, bytesRead)
    // Copied, so that a reader who keeps a few bytes of an unfinished line does not keep the whole chunk in memory.
    return bytesRead < size / 2 ? Buffer.from(bytes) : bytes
  }

  /** The next read begins at this offset. */
  seek(offset: number): void {
    this.#offset = offset
  }

  /** Call this before reading: what is read after the end was seen is all there is. */
  async end(): Promise<TailEnd | null> {
    const exit = readExit(this.#dir)
    if (exit) return { kind: 'exited', ...exit }
    // The death of a process causes no notification, so it is polled, but not at every hint: there may be hundreds a
    // second.
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS) return null
    this.#lookedAt = now
    if (isAlive(this.#keeper) && (await this.#isFed())) return null
    const late = readExit(this.#dir)
    // A keeper that is still alive has lost its feeder.
    if (late) return { kind: 'exited', ...late }
    const starved = isAlive(this.#keeper)
    return { kind: 'lost', starved, ...(!starved && hasEmptyExit(this.#dir) ? { unwritten: true } : {}) }
  }

  async #isFed(): Promise<boolean> {
    this.#feeder ??= await readFeederPid(this.#dir)
    // The feeder has not started yet, or is alive. A dead one stays a zombie while its keeper lives, so its pid is not
    // reused.
    if (this.#feeder === null || identify(this.#feeder) !== null) return true
    return isInputOver(this.#dir)
  }

  /** Resolves on the next hint, or after `maxMs` at the latest. */
  async wait(maxMs: number): Promise<void> {
    if (!this.#hinted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(maxMs, POLL_MS))
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = null
    }
    this.#hinted = false
  }

  async close(): Promise<void> {
    this.#watcher?.close()
    await this.#file?.close()
    this.#file = null
  }
}
