/** What those who look at one command need of whoever goes through the text. */
import type { Field, Redirect } from './command.ts'
import type { Evaluated } from './evaluated.ts'
import type { Scope } from './scope.ts'
import type { Setting } from './steering.ts'

export interface Started {
  words: readonly Field[]
  redirects: readonly Redirect[]
  assigned: readonly string[]
  /** What is exported does not reach it. */
  cleared?: boolean
}

/** A text that is run by and by, with whatever the shell then holds. */
export interface Trap {
  text: string
  scope: Scope
  /** Only when all else is over. */
  atEnd: boolean
}

/** Who goes through the text. */
export interface Look {
  readonly evaluated: Evaluated
  /** A text that bash evaluates once more. */
  runs: (text: string, scope: Scope) => void
  text: (source: string, scope: Scope) => void
  opaque: (why: string, text: string) => void
  /** A variable is set; opaque if programs heed it. */
  sets: (variable: string, how: Setting, text: () => string) => void
  /** Refuses the whole text. */
  giveUp: (why: string) => void
  add: (command: Started, scope: Scope) => void
  /** Looks at a command; `depth` counts what was taken off around it. */
  start: (command: Started, scope: Scope, depth: number) => void
  call: (name: string, args: readonly Field[], scope: Scope) => boolean
  /** `return`: what follows may not run. */
  leave: () => void
  trap: (trap: Trap) => void
  /** `physically`: links are followed before `..` is. */
  changeDirectory: (target: Field | undefined, scope: Scope, physically?: boolean) => void
}
