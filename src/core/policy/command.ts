/** What a shell text would start, as far as it can be known without running it. */

/** Stands in a text for what only the running shell knows. */
export const UNKNOWN = '\0'

/**
 * `made`: the name of a file that was just made for this, by mktemp. `place`: no option either, but a path that may lead
 * anywhere.
 */
export type Tame = 'number' | 'name' | 'made' | 'place'

/** One word that a program would be given. */
export interface Field {
  text: string
  /** `one`: some part of the text is unknown. `many`: it may also become several words, or none. */
  unknown?: 'one' | 'many'
  /** `*`, `?` and `[…]` in the text stand for names of files. */
  glob?: true
  /** Unknown, but certainly no option and mostly no path: a number, or the name of a branch, a container, a pod. */
  tame?: Tame
  /** It begins with something unknown, which leads nowhere that somebody could choose: a file of mktemp, a number. */
  local?: true
  /** Each file below what stands before the unknown part takes its place. */
  each?: true
}

export interface Redirect {
  target: Field
  writes: boolean
}

export interface SimpleCommand {
  /** The program and its arguments; wrappers such as `sudo` are already taken off. */
  words: readonly Field[]
  /** The name of the program, without its directory. */
  program: string
  args: readonly Field[]
  /** Where it would run. `undefined` in the list: somewhere that cannot be known. */
  cwds: readonly (string | undefined)[]
  redirects: readonly Redirect[]
  /** Variables set for this command only. */
  assigned: readonly string[]
  /** How often it would run at most; infinite where that cannot be known. */
  times: number
  /** What it reads may hold something. */
  fed: boolean
}

/** A text that starts something which parsing cannot see. */
export interface Opaque {
  why: string
  text: string
  /** It gives git settings, which no tier may. */
  settings?: true
}

export interface Extraction {
  commands: SimpleCommand[]
  opaque: Opaque[]
  /** The text is not one that a shell would accept. */
  error?: string
}

/** What the policy must know of the machine; everything else is in the text. */
export interface Surroundings {
  cwd: string
  home: string
  /** The path with all symbolic links resolved, as far as it exists; the rest is kept. */
  realpath: (path: string) => string
  exists: (path: string) => boolean
}

/** Asks the machine once about each path: files do not change while one text is looked at. */
export function askingOnce({ cwd, home, realpath, exists }: Surroundings): Surroundings {
  return { cwd, home, realpath: remembered(realpath), exists: remembered(exists) }
}

const FEW = 8

interface Answer<T> {
  path: string
  answer: T
  before: Answer<T> | undefined
}

/** Mostly a few paths are asked about: to compare them is cheaper than to build a map. */
function remembered<T>(ask: (path: string) => T): (path: string) => T {
  let last: Answer<T> | undefined
  let count = 0
  let more: Map<string, T> | undefined
  return (path) => {
    for (let known = last; known; known = known.before) if (known.path === path) return known.answer
    const known = more?.get(path)
    if (known !== undefined) return known
    const answer = ask(path)
    if (++count <= FEW) last = { path, answer, before: last }
    else {
      more ??= new Map()
      more.set(path, answer)
    }
    return answer
  }
}

/** A command that does nothing but to open what is opened for it. */
export const NOTHING: readonly Field[] = [{ text: ':' }]

export function literal(text: string): Field {
  return { text }
}

export function showCommand({ words }: { words: readonly Field[] }): string {
  let shown = words[0]?.text ?? ''
  for (let index = 1; index < words.length; index++) shown += ` ${words[index]?.text}`
  return shown.includes(UNKNOWN) ? shown.replaceAll(UNKNOWN, '…') : shown
}

/** The name that a program is known by. */
export function baseName(text: string): string {
  return text.includes('/') ? text.slice(text.lastIndexOf('/') + 1) : text
}
