/**
 * Reads an argument list by the tables of program-options.ts: which words are options, which are their values, which are
 * operands, and where the command begins that the program starts elsewhere.
 */
import {
  COMMAND_AFTER,
  GLOBAL_OPTIONS,
  type OptionKind,
  type OptionTable,
  optionTables,
  STYLES,
} from './program-options.ts'

export interface GivenOption {
  name: string
  value: string | undefined
  /** Index of the argument that holds the value, or of the option if it has none. */
  index: number
  /** How many operands stand before it. */
  words: number
}

export interface Reading {
  program: string
  args: readonly string[]
  /** Operands in order, sub-commands first. */
  words: readonly string[]
  options: readonly GivenOption[]
  /** Options that are in no table: the next word may be their value or not. */
  unknown: readonly { text: string; words: number }[]
  /** What is started elsewhere: `docker exec web …`, `kubectl exec pod -- …`, `ssh host …`. */
  inner: readonly string[] | undefined
  /** How many arguments may belong to the program itself: all of them, if options are not known. */
  own: number
}

export const isOption = (word: string) => word.length > 1 && word.charCodeAt(0) === 0x2d

export function readArguments(program: string, args: readonly string[]): Reading {
  return new Reader(program, args).read()
}

export function optionValues({ options }: Reading, ...names: readonly string[]): string[] {
  return options.flatMap(({ name, value }) => (names.includes(name) && value !== undefined ? [value] : []))
}

export const hasOption = ({ options }: Reading, ...names: readonly string[]) =>
  options.some(({ name }) => names.includes(name))

/**
 * An option that makes it uncertain whether the first words are the sub-commands: one that is not known, or, where a
 * program takes every option but its global ones for one with a value, one of a sub-command.
 */
export function uncertainOption({ program, options, unknown }: Reading, depth: number): string | undefined {
  const global = GLOBAL_OPTIONS.get(program)
  return (
    unknown.find(({ words }) => words < depth)?.text ??
    (global && options.find(({ name, words }) => words < depth && !global.has(name))?.name)
  )
}

class Reader {
  readonly #program: string
  readonly #args: readonly string[]
  readonly #words: string[] = []
  readonly #options: GivenOption[] = []
  readonly #unknown: { text: string; words: number }[] = []
  #inner: readonly string[] | undefined
  #own: number
  #tables: readonly OptionTable[]

  constructor(program: string, args: readonly string[]) {
    this.#program = program
    this.#args = args
    this.#own = args.length
    this.#tables = optionTables(program, [])
  }

  read(): Reading {
    let ended = false
    for (let at = 0; at < this.#args.length; at++) {
      const text = this.#args[at] ?? ''
      if (!ended && text === '--') {
        ended = true
        if (COMMAND_AFTER.get(this.#path()) !== '--') continue
        this.#startsInner(at + 1)
        break
      }
      if (!ended && isOption(text)) {
        at += this.#option(text, at)
        continue
      }
      if (this.#isInner()) {
        this.#startsInner(at)
        break
      }
      this.#words.push(text)
      if (this.#words.length <= 3) this.#tables = optionTables(this.#program, this.#words)
      // docker takes everything behind the image or the container for the command, ssh still reads options.
      if (this.#program !== 'ssh' && this.#isInner()) {
        this.#startsInner(at + 1)
        break
      }
    }
    return {
      program: this.#program,
      args: this.#args,
      words: this.#words,
      options: this.#options,
      unknown: this.#unknown,
      inner: this.#inner,
      own: this.#unknown.length > 0 ? this.#args.length : this.#own,
    }
  }

  #path(): string {
    return [this.#program, ...this.#words.slice(0, 1)].join(' ')
  }

  #isInner(): boolean {
    for (let depth = Math.min(2, this.#words.length); depth >= 0; depth--) {
      const after = COMMAND_AFTER.get([this.#program, ...this.#words.slice(0, depth)].join(' '))
      if (typeof after === 'number') return this.#words.length >= depth + after
    }
    return false
  }

  #startsInner(at: number): void {
    this.#own = at
    if (at < this.#args.length) this.#inner = this.#args.slice(at)
  }

  /** How many further arguments belong to it. */
  #option(text: string, at: number): number {
    const style = STYLES.get(this.#program)
    if (text.startsWith('--') || style === 'go') return this.#long(text.replace(/^-+/, '--'), at, style)
    const found: GivenOption[] = []
    for (let place = 1; place < text.length; place++) {
      const name = `-${text[place]}`
      const kind = this.#kind(name)
      if (kind === undefined) {
        this.#unknown.push({ text, words: this.#words.length })
        return 0
      }
      const rest = text.slice(place + 1).replace(/^=/, '')
      if (kind === 'flag') {
        // `-q=true`
        if (text[place + 1] === '=') place = text.length
        found.push(this.#given(name, undefined, at))
        continue
      }
      const attached = place + 1 < text.length
      this.#options.push(...found)
      if (attached || kind === 'optional') {
        this.#options.push(this.#given(name, attached ? rest : undefined, at))
        return 0
      }
      this.#options.push(this.#given(name, this.#args[at + 1], at + 1))
      return 1
    }
    this.#options.push(...found)
    return 0
  }

  #long(text: string, at: number, style: string | undefined): number {
    const sign = text.indexOf('=')
    const written = sign === -1 ? text : text.slice(0, sign)
    const name = style === 'abbreviates' ? this.#complete(written) : written
    const kind = this.#kind(name)
    if (kind === undefined) {
      this.#unknown.push({ text, words: this.#words.length })
      return 0
    }
    if (sign !== -1) {
      this.#options.push(this.#given(name, text.slice(sign + 1), at))
      return 0
    }
    const takes = kind === 'value'
    this.#options.push(this.#given(name, takes ? this.#args[at + 1] : undefined, takes ? at + 1 : at))
    return takes ? 1 : 0
  }

  #kind(name: string): OptionKind | undefined {
    for (const table of this.#tables) {
      const kind = table.get(name)
      if (kind) return kind
    }
    return undefined
  }

  /** The only option that begins like this; the text itself if there is none, or more than one. */
  #complete(text: string): string {
    if (this.#kind(text)) return text
    const names = new Set(
      this.#tables.flatMap((table) => [...table.keys()].filter((name) => name.startsWith(text))),
    )
    const [only] = names
    return names.size === 1 && only !== undefined ? only : text
  }

  #given(name: string, value: string | undefined, index: number): GivenOption {
    return { name, value, index, words: this.#words.length }
  }
}
