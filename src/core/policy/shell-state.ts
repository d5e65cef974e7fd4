/**
 * What a shell holds at one point of its text: variables, arguments, functions, aliases. One that may hold this or that
 * holds both. All that runs in one shell shares one of these; a subshell has a copy, another shell starts with what is
 * handed to it.
 */
import type { Function as ShellFunction } from 'unbash'
import { spend } from './budget.ts'
import type { Field } from './command.ts'
import {
  ANY_LIST,
  ANYTHING,
  EMPTY,
  type Lists,
  limited,
  limitedLists,
  NOT_KNOWN,
  union,
  type Values,
} from './values.ts'

interface Defined {
  bodies: readonly ShellFunction[]
  /** It is certainly defined, so that no program of this name is started instead. */
  certain: boolean
}

const NO_ARGUMENTS: Lists = [[]]
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()
const NONE: ReadonlySet<string> = new Set()

/** Whatever a shell held at some time, it may hold where a trap runs. */
class Ever {
  readonly variables = new Map<string, Values>()
  readonly functions = new Map<string, Defined>()
  readonly places = new Set<string | undefined>()
  changes = 0

  held(name: string, values: Values): void {
    this.changes++
    const before = this.variables.get(name)
    if (before !== values) this.variables.set(name, before ? union(before, values) : values)
  }

  defined(name: string, { bodies }: Defined): void {
    this.changes++
    const before = this.functions.get(name)?.bodies ?? []
    this.functions.set(name, { bodies: [...new Set([...before, ...bodies])], certain: false })
  }
}

/** Its maps are replaced, not changed: mostly there is nothing in them, and copies share them. */
export class ShellState {
  variables: ReadonlyMap<string, Values> = NOTHING
  functions: ReadonlyMap<string, Defined> = NOTHING
  aliases: ReadonlyMap<string, string> = NOTHING
  /** `$1`, `$2`, …. */
  arguments: Lists = NO_ARGUMENTS
  /** Variables that are certainly handed to what is started. */
  private exported = NONE
  private constant = NONE
  /** Variables of the function that is being gone through. */
  private locals: Set<string> | undefined
  /** All that it ever held, with all of its subshells. */
  private ever = new Ever()
  /** Variables that a function may have changed outside of it while they were its own. */
  private changedOutside = NONE

  /** For a subshell. */
  copy(): ShellState {
    const copy = new ShellState()
    copy.ever = this.ever
    copy.variables = this.variables
    copy.functions = this.functions
    copy.aliases = this.aliases
    copy.exported = this.exported
    copy.constant = this.constant
    copy.changedOutside = this.changedOutside
    if (this.locals) copy.locals = new Set(this.locals)
    copy.arguments = this.arguments
    return copy
  }

  /** For another shell that is started from this one. `cleared`: without what is exported. */
  fresh(assigned: readonly string[], cleared: boolean): ShellState {
    const fresh = new ShellState()
    if (!cleared)
      for (const name of this.exported) {
        const values = this.variables.get(name)
        if (values) fresh.set(name, values)
      }
    // Mostly they are in the environment, so that they reach it unless it is cleared; and there they have a meaning by themselves.
    for (const name of ['HOME', 'TMPDIR'])
      if (this.variables.has(name) && !fresh.variables.has(name)) fresh.set(name, NOT_KNOWN)
    // Functions may be handed on as well.
    for (const [name, { bodies }] of this.functions) fresh.setFunction(name, { bodies, certain: false })
    for (const [name, values] of givenValues(assigned)) fresh.set(name, values)
    return fresh
  }

  private set(name: string, values: Values): void {
    spend(this.variables.size + 1)
    this.variables = new Map(this.variables).set(name, values)
    this.ever.held(name, values)
  }

  private setFunction(name: string, defined: Defined): void {
    spend(this.functions.size + 1)
    this.functions = new Map(this.functions).set(name, defined)
    this.ever.defined(name, defined)
  }

  /** For what may run at any time, before or after what is known here. Asked when all has been gone through. */
  atAnyTime(): ShellState {
    const some = this.copy()
    some.variables = new Map(this.ever.variables)
    some.functions = new Map(this.ever.functions)
    some.arguments = ANY_LIST
    return some
  }

  /** How often something was changed, be it to what it was. */
  get changes(): number {
    return this.ever.changes
  }

  /** Where it was at some time, besides where it began. */
  get places(): readonly (string | undefined)[] {
    return [...this.ever.places]
  }

  wasAt(cwds: readonly (string | undefined)[]): void {
    for (const cwd of cwds) this.ever.places.add(cwd)
  }

  /** What came since may have been left out. */
  mayBeStill(before: ShellState): void {
    const variables = new Map(this.variables)
    for (const [name, values] of this.variables) {
      const held = before.variables.get(name)
      if (held === values) continue
      variables.set(name, union(held ?? EMPTY, values))
      this.ever.held(name, variables.get(name) as Values)
    }
    this.variables = variables
    for (const [name, defined] of this.functions) {
      const held = before.functions.get(name)
      if (held === defined) continue
      const bodies = [...new Set([...(held?.bodies ?? []), ...defined.bodies])]
      this.setFunction(name, { bodies, certain: false })
    }
    if (before.arguments !== this.arguments) this.setArguments(before.arguments, true)
    this.exported = before.exported
  }

  isConstant(name: string): boolean {
    return this.constant.has(name)
  }

  setAlias(name: string, text: string): void {
    this.aliases = new Map(this.aliases).set(name, text)
  }

  dropAlias(name: string): void {
    const aliases = new Map(this.aliases)
    aliases.delete(name)
    this.aliases = aliases
  }

  get isInFunction(): boolean {
    return this.locals !== undefined
  }

  /** `maybe`: it may also be left out, so that what was there before may still be. */
  assign(name: string, values: Values, maybe: boolean): void {
    const kept = maybe || this.constant.has(name)
    this.set(name, kept ? union(this.variables.get(name) ?? NOT_KNOWN, values) : limited(values))
  }

  /** Variables that are set for one command, of which the shell itself sees something. */
  withAssigned(assigned: readonly string[], work: () => void): void {
    const before = givenValues(assigned).map(([name, values]) => {
      const held = this.variables.get(name)
      this.set(name, values)
      return [name, held ?? NOT_KNOWN] as const
    })
    work()
    // Some shells keep them.
    for (const [name, held] of before) this.set(name, union(held, this.variables.get(name) ?? NOT_KNOWN))
  }

  declareLocal(name: string): void {
    this.locals?.add(name)
  }

  /** `declare -g` in a function. */
  changeOutside(name: string): void {
    this.changedOutside = new Set(this.changedOutside).add(name)
  }

  /** Whether a command of this name may be a function or an alias. */
  isRedefined(name: string): boolean {
    return this.functions.has(name) || this.aliases.has(name)
  }

  export(name: string, certainly: boolean): void {
    if (certainly && !this.isInFunction) this.exported = new Set(this.exported).add(name)
  }

  unexport(name: string): void {
    const exported = new Set(this.exported)
    exported.delete(name)
    this.exported = exported
  }

  makeConstant(name: string): void {
    this.constant = new Set(this.constant).add(name)
  }

  setArguments(lists: Lists, maybe: boolean): void {
    this.ever.changes++
    this.arguments = limitedLists(maybe ? [...this.arguments, ...lists] : lists)
  }

  /** `undefined`: nobody knows by how many. */
  shift(count: number | undefined, maybe: boolean): void {
    const shifted =
      count === undefined
        ? this.arguments.flatMap((list) => list.map((_, at) => list.slice(at + 1)))
        : this.arguments.map((list) => shiftedBy(list, count))
    this.setArguments(shifted, maybe || count === undefined)
  }

  define(name: string, body: ShellFunction, maybe: boolean): void {
    const before = this.functions.get(name)
    const certain = !maybe && !this.isInFunction
    const bodies = certain || before?.bodies.includes(body) ? [body] : [...(before?.bodies ?? []), body]
    this.setFunction(name, { bodies, certain: certain || before?.certain === true })
  }

  undefine(name: string): void {
    const before = this.functions.get(name)
    if (before) this.setFunction(name, { bodies: before.bodies, certain: false })
  }

  /** A call of a function: it has arguments and variables of its own. `work` says whether it may be left early. */
  call(args: readonly Field[], work: () => boolean): void {
    const { arguments: outer, locals } = this
    const before = this.variables
    this.arguments = [args]
    this.locals = new Set()
    const mayLeave = work()
    for (const [name, values] of this.variables) {
      const held = before.get(name)
      if (held !== values && (mayLeave || this.locals.has(name)))
        this.set(name, union(held ?? NOT_KNOWN, values))
    }
    for (const name of this.changedOutside) this.set(name, { ...NOT_KNOWN, lists: ANY_LIST })
    this.locals = locals
    this.arguments = outer
  }

  /** Both may be true afterwards. */
  join(other: ShellState): void {
    for (const [name, values] of other.variables) {
      const held = this.variables.get(name)
      if (held !== values) this.set(name, union(held ?? NOT_KNOWN, values))
    }
    for (const [name, defined] of other.functions) {
      const held = this.functions.get(name)
      if (held === defined) continue
      const bodies = [...new Set([...(held?.bodies ?? []), ...defined.bodies])]
      this.setFunction(name, { bodies, certain: defined.certain && held?.certain === true })
    }
    if (other.arguments !== this.arguments) this.setArguments(other.arguments, true)
  }

  /** What differs from another is no longer known. */
  forgetChanges(since: ShellState): void {
    for (const [name, values] of this.variables)
      if (since.variables.get(name) !== values)
        this.set(name, values.lists ? { ...NOT_KNOWN, lists: ANY_LIST } : NOT_KNOWN)
    if (since.arguments !== this.arguments) this.arguments = ANY_LIST
  }

  /** To see whether something has changed. */
  get fingerprint(): string {
    const functions = [...this.functions].map(([name, { bodies, certain }]) => [name, bodies.length, certain])
    const fingerprint = JSON.stringify([[...this.variables], functions, [...this.aliases], this.arguments])
    spend(fingerprint.length)
    return fingerprint
  }
}

/** Of `name=value`, as far as it is written out; `name+=value` adds to what is not known. */
function givenValues(assigned: readonly string[]): (readonly [string, Values])[] {
  return assigned.map((text) => {
    const [, name = '', others = '', value = ''] = /^(\w*)([^=]*)=(.*)$/s.exec(text) ?? []
    const known = others === '' && !/[$`\0<>]/.test(value)
    return [name, known ? { texts: [value], unknown: false } : NOT_KNOWN] as const
  })
}

/** By more than there are, nothing is shifted. */
function shiftedBy(list: readonly Field[], count: number): readonly Field[] {
  if (list.some(({ unknown }) => unknown === 'many')) return [ANYTHING]
  return count > list.length ? list : list.slice(count)
}
