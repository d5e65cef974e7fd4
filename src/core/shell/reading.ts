/** What is found in a shell text by reading it, without running or expanding anything. */

/** A command whose words are all written out. */
export interface PlainCommand {
  /** The program and its arguments, quotes resolved. Empty if the text only redirects or assigns something. */
  argv: readonly string[]
  /** Places in `argv` where `*`, `?` or `[…]` stands for names of files. */
  globs: readonly number[]
  redirects: readonly PlainRedirect[]
  /** Variables set for this command, or by it for what follows: `NAME=value`, as written. */
  assignments: readonly string[]
  /**
   * The directories in which it may run, as they were written behind `cd`: `''` is the one in which the text starts.
   * null: one that is not written out. A list, because `cd` may fail.
   */
  cwds: readonly (string | null)[]
  /** It is started as another user, as by `sudo`. */
  elevated: boolean
  /** It is given further arguments when it runs, as by `xargs` and `find -exec`. */
  openEnded: boolean
  /** It is in a loop or a function, so that it may run more than once. */
  repeated: boolean
  /** Why it may start programs that its arguments do not show: it is an interpreter, or runs what a file says. */
  opaque: string | null
}

export interface PlainRedirect {
  op: string
  path: string
}

/** A part of the text that cannot be read without running it. */
export interface Unclear {
  text: string
  /** Completes "it …". */
  why: string
}

export interface ShellReading {
  commands: readonly PlainCommand[]
  unclear: readonly Unclear[]
}

/** The name that a program is known by, without its directory. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const LONGEST_SHOWN = 200

export function showCommand({ argv, redirects }: Pick<PlainCommand, 'argv' | 'redirects'>): string {
  const shown = [...argv, ...redirects.map(({ op, path }) => `${op} ${path}`)].join(' ')
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown
}
