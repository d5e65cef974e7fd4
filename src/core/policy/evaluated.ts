/**
 * Texts that bash evaluates once more because it takes them for a number or for the name of a variable: in both,
 * `a[$(touch x)]` runs touch. A number may also be the name of a variable that holds such a text, set anywhere; so what
 * variables are given is collected for the whole text, and looked at in the end.
 */
import type { Word, WordPart } from 'unbash'
import { type Field, UNKNOWN } from './command.ts'

/** In this, something may be run. */
const LIVE = /[$`]/
/** Set by the shell, to what a text can choose. */
const CHOSEN =
  /^(_|REPLY|MAPFILE|OPTARG|DIRSTACK|PWD|OLDPWD|FUNCNAME|READLINE_\w+|COMP_\w+|BASH_(REMATCH|COMMAND|ARGV|EXECUTION_STRING|ARGV0))$/
/** Set by the shell, to numbers. */
const COUNTED =
  /^(SECONDS|S?RANDOM|LINENO|EPOCH(SECONDS|REALTIME)|BASHPID|BASH_SUBSHELL|HISTCMD|PPID|E?UID|GROUPS|PIPESTATUS|OPTIND|COLUMNS|LINES)$/
const NAMES = /[A-Za-z_]\w*/g
const ARGUMENT = /\$\{?[@*\d]/

export class Evaluated {
  private held: Map<string, Set<string>> | undefined
  private made: Map<string, Set<string>> | undefined
  private anything: Set<string> | undefined
  private wanted: Set<string> | undefined

  /** The variable may hold this, alone or with more around it. */
  holds(name: string, text: string): void {
    this.held ??= new Map()
    addTo(this.held, name, text)
  }

  /** What the variable holds is made of others. */
  isMadeOf(name: string, source: string): void {
    this.made ??= new Map()
    addTo(this.made, name, source)
  }

  /** The variable may hold what a file, a program or a person says. */
  holdsAnything(name: string): void {
    this.anything ??= new Set()
    this.anything.add(name)
  }

  /** Something is taken for a number, or for a name: these variables are looked up. */
  wants(source: string): void {
    this.wanted ??= new Set()
    for (const name of namesIn(source)) this.wanted.add(name)
  }

  get isEmpty(): boolean {
    return !this.wanted
  }

  /** What is evaluated although nobody can see it, or although it runs something. */
  *found(): Generator<{ name: string; text?: string }> {
    // A set that grows while it is gone through is gone through to its end.
    for (const name of this.wanted ?? []) {
      if (this.anything?.has(name) || CHOSEN.test(name)) yield { name }
      for (const text of this.held?.get(name) ?? []) {
        if (LIVE.test(text)) yield { name, text }
        this.wants(text)
      }
      for (const source of this.made?.get(name) ?? []) this.wants(source)
    }
  }
}

function addTo(map: Map<string, Set<string>>, name: string, text: string): void {
  const texts = map.get(name)
  if (texts) texts.add(text)
  else map.set(name, new Set([text]))
}

/** Arguments of functions and shells go by one name. */
const ARGUMENTS = '$@'

function namesIn(source: string): string[] {
  const names: string[] = source.match(NAMES) ?? []
  return ARGUMENT.test(source) ? [...names, ARGUMENTS] : names
}

export function holdsArguments(evaluated: Evaluated, fields: readonly Field[] | undefined): void {
  for (const { text, unknown, tame } of fields ?? []) {
    // A path that is partly known may end in any name.
    if (unknown && (tame !== 'number' || text !== UNKNOWN)) evaluated.holdsAnything(ARGUMENTS)
    else evaluated.holds(ARGUMENTS, text)
  }
}

/** Whether a variable holds what the shell says, whatever it was given. */
export const isSetByShell = (name: string) => CHOSEN.test(name) || COUNTED.test(name)

export const isLive = (text: string) => LIVE.test(text)

/** What is written out in a word, piece by piece, and the variables it is made of. */
export function piecesOf(word: Pick<Word, 'value' | 'parts'>): {
  written: string[]
  variables: string[]
  runs: WordPart[]
} {
  const pieces = { written: [] as string[], variables: [] as string[], runs: [] as WordPart[] }
  if (word.parts) collect(word.parts, pieces)
  else pieces.written.push(word.value)
  return pieces
}

function collect(parts: readonly WordPart[], pieces: ReturnType<typeof piecesOf>): void {
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        pieces.written.push(part.value)
        break
      case 'DoubleQuoted':
      case 'LocaleString':
        collect(part.parts, pieces)
        break
      case 'Glob':
      case 'ExtendedGlob':
      case 'BraceExpansion':
        if (part.parts) collect(part.parts, pieces)
        else pieces.written.push(part.type === 'Glob' ? part.value : part.text)
        break
      case 'SimpleExpansion':
        pieces.variables.push(part.text)
        break
      case 'ParameterExpansion':
        // Its length is a number.
        if (part.prefix === '#') break
        pieces.variables.push(`\${${part.parameter}}`)
        // `${x:-a[0]}`, `${x/a/b}`: written there, too.
        if (part.operation) pieces.written.push(part.text.slice(part.parameter.length + 2))
        break
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        pieces.runs.push(part)
        break
    }
  }
}
