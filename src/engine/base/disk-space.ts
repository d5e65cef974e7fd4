/**
 * Watches the free space of the disks that Reprise writes to, and of the work directories of runs (core/disk.ts has the
 * levels). New attempts ask before they start; running ones learn from `full` that their output may have been lost. A
 * file is kept in reserve, so that the ends of the attempts that are stopped can be stored.
 */
import type { Status } from '../../contract/http.ts'
import type { Clock } from '../../core/clock.ts'
import {
  type DiskFree,
  type DiskJudgement,
  type DiskLevel,
  judgeDisk,
  reserveBytes,
} from '../../core/disk.ts'
import type { Log } from './log.ts'

/** The disks and the reserve file, provided by the composition root. */
export interface Disks {
  /** Reprise's own directories. The first one holds the reserve. */
  paths: readonly string[]
  /** null: nothing is known. */
  readFree: (path: string) => Promise<DiskFree | null>
  reserve: { fill: (bytes: number) => Promise<void>; release: () => void }
}

export interface DiskFull {
  since: Date
  message: string
}

interface Parts {
  disks: Disks
  minFreeBytes: number
  clock: Clock
  log: Log
}

const LOOK_MS = 500

export class DiskSpace {
  readonly #parts: Parts
  readonly #levels = new Map<string, DiskLevel>()
  #short: Status['disks'] = []
  #full: DiskFull | null = null
  #newestFull: DiskFull | null = null
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Looks, and looks again periodically until `close`. */
  async open(): Promise<void> {
    await this.look()
    this.#timer = setInterval(() => void this.look(), LOOK_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** Set while one of Reprise's own disks is full. */
  get full(): DiskFull | null {
    return this.#full
  }

  /** The last time that one of Reprise's own disks was full. It stays when there is space again. */
  get newestFull(): DiskFull | null {
    return this.#newestFull
  }

  /** Reprise's own disks that have too little space. */
  describe(): Status['disks'] {
    return this.#short
  }

  /** Why an attempt that would write to `workDir` cannot start now; null if it can. */
  async findShortage(workDir: string): Promise<string | null> {
    await this.look()
    const own = this.#short[0]
    if (own) return own.message
    const judged = await this.#judge(workDir)
    return judged === null || judged.level === 'ample' ? null : judged.message
  }

  /** Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error) => this.#parts.log.warn({ error: String(error) }, 'could not look at the disks'))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { disks, clock, log } = this.#parts
    const short: Status['disks'] = []
    let reserve = 0
    for (const path of disks.paths) {
      const before = this.#levels.get(path) ?? 'ample'
      const judged = await this.#judge(path)
      if (judged === null) continue
      this.#levels.set(path, judged.level)
      if (judged.level === 'ample') {
        if (before !== 'ample') log.info({ path }, 'the disk has enough space again')
        const bytes = reserveBytes(judged.needBytes)
        if (path === disks.paths[0] && judged.freeBytes >= judged.needBytes + bytes) reserve = bytes
        continue
      }
      const known = short.some(({ message }) => message === judged.message)
      if (!known) short.push({ path, full: judged.level === 'full', message: judged.message })
      if (judged.level === before) continue
      // The reserve goes first, so that the log can be written.
      if (judged.level === 'full') disks.reserve.release()
      log.error({ path, state: judged.level }, judged.message)
    }
    this.#short = short
    const full = short.find((one) => one.full)
    this.#full = full ? (this.#full ?? { since: clock.now(), message: full.message }) : null
    this.#newestFull = this.#full ?? this.#newestFull
    if (reserve > 0) await disks.reserve.fill(reserve)
  }

  async #judge(path: string): Promise<DiskJudgement | null> {
    const { disks, minFreeBytes } = this.#parts
    const free = await disks.readFree(path)
    return free && judgeDisk(path, free, { minFreeBytes, before: this.#levels.get(path) ?? 'ample' })
  }
}
