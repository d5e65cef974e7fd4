/** What has been found in a shell text so far, within bounds. */
import type { PlainCommand, ShellReading, Unclear } from './reading.ts'
import { shorten } from './words.ts'

const MOST_COMMANDS = 2000
/** Of all commands together: the rules look at each of them, and ask the file system about those that may be paths. */
const MOST_WORDS = 5000
const MOST_CWDS = 4

/** The text is too much to be read. The message completes "it …". */
export class TooMuch extends Error {}

export type Found = Omit<PlainCommand, 'cwds' | 'opaque'>

export class Findings {
  readonly #commands: PlainCommand[] = []
  readonly #unclear: Unclear[] = []
  /** Functions that the text defines. */
  readonly #defined = new Set<string>()
  /** Names in the place of a command, with the text of their first use. */
  readonly #used = new Map<string, string>()
  #words = 0
  #cwds: readonly (string | null)[] = ['']

  /** Once the whole text was read: a function may be used before it is defined. */
  reading(): ShellReading {
    for (const name of this.#defined) {
      const text = this.#used.get(name)
      if (text !== undefined) this.note(text, `calls ${name}, which it defines itself`)
    }
    return { commands: this.#commands, unclear: this.#unclear }
  }

  add(command: Found, opaque: string | null = null): void {
    const { argv, redirects, assignments } = command
    const words = argv.length + redirects.length + assignments.length
    if (words === 0) return
    this.#words += words
    if (this.#words > MOST_WORDS) throw new TooMuch(`has more than ${MOST_WORDS} words`)
    if (this.#commands.length >= MOST_COMMANDS) throw new TooMuch(`has more than ${MOST_COMMANDS} commands`)
    this.#commands.push({ ...command, cwds: this.#cwds, opaque })
  }

  note(text: string, why: string): void {
    if (this.#unclear.length >= MOST_COMMANDS) throw new TooMuch('has too much that is not written out')
    this.#unclear.push({ text: text.length > 1000 ? shorten(text) : text, why })
  }

  define(name: string): void {
    this.#defined.add(name)
  }

  use(name: string, text: string): void {
    if (!this.#used.has(name)) this.#used.set(name, text)
  }

  /** Earlier directories stay in the list: the change may fail, or be undone. null: one that is not written out. */
  goTo(target: string | null): void {
    const reached = this.#cwds.map((cwd) => {
      if (target === null || (cwd === null && !/^[/~]/.test(target))) return null
      return `${/^[/~]/.test(target) ? '' : cwd}${target}`.replace(/\/*$/, '/')
    })
    const all = new Set([...this.#cwds, ...reached])
    this.#cwds = all.size > MOST_CWDS ? [null] : [...all]
  }
}
