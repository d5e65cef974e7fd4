/**
 * Measures the time of one attempt in each phase (working, held, waiting for an answer, over) and decides whether it
 * exceeds a limit (core/watchdog.ts). Only time in which the daemon was running counts, see core/steady-clock.ts. The
 * working and waiting times are stored periodically, so that a daemon that adopts the attempt continues from them.
 */
import type { SteadyClock } from '../../core/steady-clock.ts'
import {
  NOTHING_COUNTED,
  pass,
  type Verdict,
  type WatchCounts,
  type WatchLimits,
  type WatchPhase,
  watch,
} from '../../core/watchdog.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Store } from '../../store/store.ts'
import type { Persist } from '../base/persist.ts'

const STORE_EVERY_MS = 30_000

export interface AttemptWatchDeps {
  store: Pick<Store, 'noteWatched'>
  clock: Pick<SteadyClock, 'watchedMs'>
  persist: Persist
}

export class AttemptWatch {
  readonly #deps: AttemptWatchDeps
  readonly #attempt: AttemptRecord
  #counts: WatchCounts
  #countedAtMs: number
  #storedAtMs: number
  #outputBytes: number
  #isOver = false
  #isHeld = false
  /** The oldest open question. */
  #question: string | null = null

  constructor(deps: AttemptWatchDeps, attempt: AttemptRecord, outputBytes: number) {
    this.#deps = deps
    this.#attempt = attempt
    this.#outputBytes = outputBytes
    this.#counts = { ...NOTHING_COUNTED, ...attempt.watched }
    this.#countedAtMs = this.#storedAtMs = deps.clock.watchedMs()
  }

  /** The agent was told to exit, because its turn has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  get #phase(): WatchPhase {
    if (this.#isOver) return 'over'
    if (this.#question !== null) return 'waiting'
    return this.#isHeld ? 'held' : 'working'
  }

  noteOutput(readTo: number): void {
    if (readTo > this.#outputBytes) this.#endSilence()
    this.#outputBytes = Math.max(readTo, this.#outputBytes)
  }

  /** Returns true if the attempt starts or stops waiting. */
  noteQuestion(oldestOpen: string | null): boolean {
    const before = this.#question
    if (before === oldestOpen) return false
    this.#endSilence()
    // The waiting time starts again with each question. An adopted attempt keeps the time that was stored for its
    // question.
    if (before !== null) this.#counts = { ...this.#counts, waitingMs: 0 }
    this.#question = oldestOpen
    return before === null || oldestOpen === null
  }

  /** Called when all questions that were open at the adoption have been read. */
  noteAdopted(): void {
    if (this.#question === null) this.#counts = { ...this.#counts, waitingMs: 0 }
  }

  /** Returns true if the attempt starts or stops being held. */
  noteHeld(isHeld: boolean): boolean {
    if (this.#isHeld === isHeld) return false
    this.#endSilence()
    this.#isHeld = isHeld
    return true
  }

  noteOver(): void {
    this.#count()
    this.#isOver = true
  }

  async judge(limits: WatchLimits): Promise<Verdict> {
    this.#count()
    if (this.#countedAtMs - this.#storedAtMs >= STORE_EVERY_MS) await this.#deps.persist(() => this.store())
    return watch({ phase: this.#phase, counts: this.#counts, outputBytes: this.#outputBytes }, limits)
  }

  async store(): Promise<void> {
    const { workedMs, waitingMs } = this.#counts
    this.#storedAtMs = this.#countedAtMs
    await this.#deps.store.noteWatched(this.#attempt, { workedMs, waitingMs })
  }

  /** Adds the time since the last call to the current phase. Must be called before the phase changes. */
  #count(): void {
    const nowMs = this.#deps.clock.watchedMs()
    this.#counts = pass(this.#counts, this.#phase, nowMs - this.#countedAtMs)
    this.#countedAtMs = nowMs
  }

  #endSilence(): void {
    this.#count()
    this.#counts = { ...this.#counts, silentMs: 0 }
  }
}
