/** Where in a shell text something stands. */
import type { ParsedScript } from 'unbash'
import { type Findings, TooMuch } from './findings.ts'

export interface Scope {
  findings: Findings
  /** The text that positions refer to. */
  source: string
  depth: number
  /** Inside of a loop or a function, so that it may run at another time than it is written. */
  repeated: boolean
  /** Inside of what is started as another user. */
  elevated: boolean
  /** Reads a text that is part of the text, such as the argument of `sh -c`. */
  text: (text: string, scope: Scope) => void
  /** Reads a substitution. */
  script: (script: ParsedScript, scope: Scope) => void
}

const DEEPEST = 16

export function deeper(scope: Scope): Scope {
  if (scope.depth >= DEEPEST) throw new TooMuch('is nested too deeply')
  return { ...scope, depth: scope.depth + 1 }
}

export const textOf = ({ source }: Scope, { pos, end }: { pos: number; end: number }) =>
  source.slice(pos, end)
