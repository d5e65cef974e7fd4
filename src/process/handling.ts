/**
 * Notes on disk of which run the daemon is working on right now, so that after a death the next daemon knows what killed
 * it. A note is written before something is read that an agent said or wrote, and removed afterwards; it only has to
 * survive the process, not the machine, so nothing is flushed.
 *
 * handling (file: active) → passed (no file)
 *                         → the daemon died → suspected (file: deaths 1) → passed, or the daemon died there again (deaths 2)
 *
 * A step is a run, what is done to it, to what of it (`at`: an attempt, a question) and how far it had come (`position`, of
 * what is read). Only deaths at the same step that came no further count together: a daemon that somebody kills twice is
 * hardly ever hit at the same one. Of a run one thing is prepared, read or settled after the other, so that the next takes
 * the place of the note before. Guards are answered side by side: each question has a note of its own. Suspects are handled one at a time (`enter`), so that the second death singles out one of them.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const STEPS = ['prepare', 'read', 'guard', 'settle'] as const
export type Step = (typeof STEPS)[number]

interface Note {
  at: string
  position: number
  /** The work had begun and not ended when this was written. */
  active: boolean
  /** How often a daemon died there. */
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
  /** What has been noted, by name of the file. */
  readonly #noted = new Map<string, string>()

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Counts the deaths of the daemons before. To be called once, before anything is handled. */
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

  /** `passed`: how far it has come. Of a step that was begun again further on meanwhile, nothing is removed. */
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

  /** Of a guard several may be under way at a time, of all else only one. */
  async during<T>(runId: string, step: Step, at: string, work: () => Promise<T>): Promise<T> {
    this.begin(runId, step, at)
    try {
      return await work()
    } finally {
      this.end(runId, step, at)
    }
  }

  /** Waits for its turn if a daemon died while it handled this run, so that suspects are handled one by one. */
  async enter(runId: string): Promise<void> {
    if (!this.#suspects.has(runId) || this.#release.has(runId)) return
    const before = this.#last
    this.#last = new Promise((resolve) => this.#release.set(runId, resolve))
    await before
  }

  /** The next suspect may be handled. */
  leave(runId: string): void {
    this.#release.get(runId)?.()
    this.#release.delete(runId)
  }

  /** The run is over: it is not suspected of anything any more. */
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

  /** A note that cannot be written, because the disk is full, is missing: that must stop nobody. */
  #write(name: string, { at, position, active, deaths }: Note): void {
    const note: Note = { at, position, active, deaths }
    try {
      writeFileSync(join(this.#dir, name), JSON.stringify(note), { mode: 0o600 })
    } catch {
      // See above.
    }
  }

  #remove(name: string): void {
    try {
      rmSync(join(this.#dir, name), { force: true })
    } catch {
      // It is read again by the next daemon, which finds its run settled.
    }
  }
}

/** The id of a guard's question comes from a file that an agent may have made: its digest is a safe name. */
const nameOf = (runId: string, step: Step, at: string) =>
  step === 'guard'
    ? `${runId}.guard.${createHash('sha256').update(at).digest('hex').slice(0, 16)}`
    : `${runId}.${step}`

const isStep = (text: string): text is Step => (STEPS as readonly string[]).includes(text)

/** null: half-written, or not ours. */
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
