/**
 * Records on disk which run the daemon is working on, so that after a crash the next daemon knows what caused it. A
 * note is written before agent output or agent files are read, and removed afterwards. It has to survive the process,
 * not the machine, so nothing is flushed.
 *
 *   handling (file: active) → passed (no file)
 *                           → the daemon died → suspected (file: deaths 1) → passed, or the daemon died again (deaths
 *                           2)
 *
 * A step is a run, the kind of work, its object (`at`: an attempt, a question) and its progress (`position` in what is
 * read). Only deaths at the same step without further progress are counted together: a daemon that is killed twice from
 * outside is hardly ever at the same one. Preparing, reading and settling a run happen one after the other, so each
 * replaces the note of the one before. Calls of programs are checked concurrently, so each has its own note. Suspects
 * are handled one at a time (`enter`), so that the second death identifies the run.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const STEPS = ['prepare', 'read', 'call', 'settle'] as const
export type Step = (typeof STEPS)[number]

interface Note {
  at: string
  position: number
  /** The work had begun and not ended when the note was written. */
  active: boolean
  /** How often a daemon died at this step. */
  deaths: number
}

export interface Suspicion {
  runId: string
  step: Step
  at: string
  position: number
  deaths: number
}

export class Handling {
  readonly #dir: string
  readonly #suspects = new Map<string, Suspicion[]>()
  #last: Promise<void> = Promise.resolve()
  readonly #release = new Map<string, () => void>()
  /** The notes on disk, by file name. */
  readonly #noted = new Map<string, string>()

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Counts the deaths of earlier daemons. Must be called once, before anything is handled. */
  open(): Suspicion[] {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(this.#dir)) {
      const [runId = '', step = ''] = name.split('.')
      const note = readNote(join(this.#dir, name))
      if (!note || !isStep(step)) {
        this.#remove(name)
        continue
      }
      const deaths = note.deaths + (note.active ? 1 : 0)
      this.#write(name, { ...note, active: false, deaths })
      const known = this.#suspects.get(runId) ?? []
      this.#suspects.set(runId, [...known, { runId, step, at: note.at, position: note.position, deaths }])
    }
    return [...this.#suspects.values()].flat()
  }

  begin(runId: string, step: Step, at: string, position = 0): void {
    const name = nameOf(runId, step, at)
    if (this.#noted.get(name) === `${at} ${position}`) return
    this.#noted.set(name, `${at} ${position}`)
    const known = this.#suspicion(runId, step, at)
    const again = known?.at === at && position <= known.position
    const note = again ? known : { at, position, deaths: 0 }
    this.#write(name, { at, position: note.position, active: true, deaths: note.deaths })
  }

  /**
   * Removes the note of a step. `passed` is its progress: a step that was begun again further on meanwhile keeps its
   * note.
   */
  end(runId: string, step: Step, at: string, position = 0, passed = position + 1): void {
    const name = nameOf(runId, step, at)
    if (this.#noted.get(name) !== `${at} ${position}`) return
    this.#noted.delete(name)
    const known = this.#suspicion(runId, step, at)
    if (known?.at === at && known.position >= passed) {
      this.#write(name, { ...known, active: false })
      return
    }
    this.#remove(name)
    const left = (this.#suspects.get(runId) ?? []).filter((suspicion) => suspicion !== known)
    if (left.length > 0) this.#suspects.set(runId, left)
    else {
      this.#suspects.delete(runId)
      this.leave(runId)
    }
  }

  /** Several guard questions may be in progress at a time; of every other step only one. */
  async during<T>(runId: string, step: Step, at: string, work: () => Promise<T>): Promise<T> {
    this.begin(runId, step, at)
    try {
      return await work()
    } finally {
      this.end(runId, step, at)
    }
  }

  /** If a daemon died while it handled this run, waits until no other suspect is being handled. */
  async enter(runId: string): Promise<void> {
    if (!this.#suspects.has(runId) || this.#release.has(runId)) return
    const before = this.#last
    this.#last = new Promise((resolve) => this.#release.set(runId, resolve))
    await before
  }

  /** Lets the next suspect be handled. */
  leave(runId: string): void {
    this.#release.get(runId)?.()
    this.#release.delete(runId)
  }

  /** The run has settled and is no longer suspected. */
  forget(runId: string): void {
    for (const step of STEPS) this.#remove(`${runId}.${step}`)
    for (const { step, at } of this.#suspects.get(runId) ?? []) this.#remove(nameOf(runId, step, at))
    this.#suspects.delete(runId)
    this.leave(runId)
  }

  #suspicion(runId: string, step: Step, at: string): Suspicion | undefined {
    const name = nameOf(runId, step, at)
    return this.#suspects.get(runId)?.find((one) => nameOf(runId, one.step, one.at) === name)
  }

  /** A note that cannot be written, for example because the disk is full, is left out: the work must continue. */
  #write(name: string, { at, position, active, deaths }: Note): void {
    const note: Note = { at, position, active, deaths }
    try {
      writeFileSync(join(this.#dir, name), JSON.stringify(note), { mode: 0o600 })
    } catch {
      // See the comment above the method.
    }
  }

  #remove(name: string): void {
    try {
      rmSync(join(this.#dir, name), { force: true })
    } catch {
      // The next daemon reads the note again and finds that its run has settled.
    }
  }
}

/** The id of a call comes from a file that an agent may have made; its digest is a safe file name. */
const nameOf = (runId: string, step: Step, at: string) =>
  step === 'call'
    ? `${runId}.call.${createHash('sha256').update(at).digest('hex').slice(0, 16)}`
    : `${runId}.${step}`

const isStep = (text: string): text is Step => (STEPS as readonly string[]).includes(text)

/** null: the file is incomplete or not ours. */
function readNote(path: string): Note | null {
  try {
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof note !== 'object' || note === null) return null
    const { at, position, active, deaths } = note as Partial<Note>
    if (typeof at !== 'string' || typeof active !== 'boolean') return null
    if (!Number.isSafeInteger(deaths) || !Number.isSafeInteger(position)) return null
    return { at, position: Number(position), active, deaths: Number(deaths) }
  } catch {
    return null
  }
}
