/**
 * The clock of the daemon of a mixed soak, which is set forward and back. It never shows a time twice: forward it goes
 * to a time at least an hour after all that it has shown, and back into the hour before the last jump, once. So a time
 * that the daemon stored tells how far ahead its clock was. A round must be shorter than 20 minutes.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const HOUR_MS = 3_600_000

interface Setting {
  /** The first time that the clock showed with this setting. */
  from: number
  aheadMs: number
  mayGoBack: boolean
}

export class SoakClock {
  readonly #path: string
  readonly #settings: Setting[] = [{ from: 0, aheadMs: 0, mayGoBack: false }]
  #current = this.#settings[0]!
  #latest = 0

  constructor(dir: string) {
    this.#path = join(dir, 'clock')
    writeFileSync(this.#path, '0')
  }

  get env(): Record<string, string> {
    return {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'set-clock.mjs')}`,
      REPRISE_SOAK_CLOCK: this.#path,
    }
  }

  /** Sets the clock to an hour and `ms` after the latest time that it has shown. */
  setForward(ms: number): void {
    this.#latest = Math.max(this.#latest, Date.now() + this.#current.aheadMs)
    this.#setTo(this.#latest + HOUR_MS + ms, true)
  }

  /** Sets the clock to `ms` before the last jump. False if it was not set forward since it was last set back. */
  setBack(ms: number): boolean {
    if (!this.#current.mayGoBack) return false
    this.#latest = Math.max(this.#latest, Date.now() + this.#current.aheadMs)
    this.#setTo(this.#current.from - ms, false)
    return true
  }

  /** How far the daemon's clock was ahead when it showed this time. */
  aheadMs(shown: Date): number {
    const before = this.#settings.filter(({ from }) => from <= shown.getTime())
    return before.reduce((last, one) => (one.from > last.from ? one : last)).aheadMs
  }

  #setTo(time: number, mayGoBack: boolean): void {
    const aheadMs = Math.round(time - Date.now())
    this.#current = { from: time, aheadMs, mayGoBack }
    this.#settings.push(this.#current)
    // Renamed, so that the daemon never reads a part of it.
    writeFileSync(`${this.#path}.new`, String(aheadMs))
    renameSync(`${this.#path}.new`, this.#path)
  }
}
