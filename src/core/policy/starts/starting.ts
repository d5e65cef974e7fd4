/** One command with its words known, and where it stands. */
import { baseName, type Field, showCommand, UNKNOWN } from '../command.ts'
import { holdsArguments } from '../evaluated.ts'
import type { Look, Started } from '../look.ts'
import { innerScope, type Scope } from '../scope.ts'
import { ANYTHING } from '../values.ts'

export class Starting {
  readonly command: Started
  readonly scope: Scope
  readonly walker: Look
  /** Of wrappers taken off. */
  readonly depth: number
  readonly name: Field
  readonly program: string
  readonly args: readonly Field[]

  constructor(command: Started, name: Field, scope: Scope, walker: Look, depth: number) {
    this.command = command
    this.scope = scope
    this.walker = walker
    this.depth = depth
    this.name = name
    this.program = baseName(name.text)
    this.args = command.words.slice(1)
  }

  /** It would run as it stands. */
  done(): void {
    this.walker.add(this.command, this.scope)
  }

  opaque(why: string): void {
    this.walker.opaque(why, showCommand(this.command))
  }

  /** It starts what these words say. */
  next(words: readonly Field[], change: Partial<Started> = {}, at = this.scope): void {
    const assigned = [...uncertain(this.command.assigned), ...(change.assigned ?? NONE)]
    this.walker.start({ ...this.command, ...change, assigned, words }, at, this.depth + 1)
  }

  /** It gives another shell a text. `cleared`: without what is exported. */
  gives(
    text: Field | undefined,
    positional: readonly Field[] | undefined,
    { cleared, at = this.scope }: { cleared: boolean; at?: Scope },
  ): void {
    if (!text) return
    holdsArguments(this.walker.evaluated, positional)
    if (text.unknown) this.opaque('gives a shell a text that is not known')
    const redirects = [...this.scope.redirects, ...this.command.redirects]
    this.walker.text(knownText(text.text), this.otherShell(positional, { redirects }, cleared, at))
  }

  /** Of what this shell holds, another one is given what is exported. */
  otherShell(
    positional: readonly Field[] | undefined,
    change: Partial<Scope>,
    cleared = false,
    at = this.scope,
  ): Scope {
    const { assigned } = this.command
    const state = at.state.fresh(assigned, cleared || this.command.cleared === true)
    state.setArguments([positional ?? [ANYTHING]], false)
    return innerScope(at, { ...change, state, conditional: false })
  }
}

const NONE: readonly string[] = []

/** Whether a wrapper hands them on is not certain. What is not listed here is not known by itself. */
function uncertain(assigned: readonly string[]): readonly string[] {
  if (assigned.length === 0) return NONE
  return assigned
    .flatMap((text) => /^(HOME|TMPDIR)\b/.exec(text)?.[0] ?? [])
    .map((name) => `${name}=$${name}`)
}

/** It leaves out null bytes, which stand for something else here. */
export const readByShell = (text: string) => text.replaceAll(UNKNOWN, '')

/** What is not known becomes a variable that is not known. */
export const knownText = (text: string) => text.replaceAll(UNKNOWN, '$__unknown__')
