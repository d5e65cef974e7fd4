/** What is known at one point of a shell text: variables, arguments, functions, directories. */
import type { Function as ShellFunction } from 'unbash'
import type { Field, Redirect } from './command.ts'

/** Everything a variable may hold here; `unknown` when it may also hold something else. */
export interface Values {
  texts: readonly string[]
  unknown: boolean
  /** Names of files that have one of these forms. */
  globs?: readonly string[]
  /** What is unknown leads nowhere that somebody could choose. */
  local?: boolean
}

/** What a command would read: nothing of interest, a text that is known, or something that cannot be known. */
export type Input = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'unknown' }

export interface Scope {
  variables: Map<string, Values>
  /** `$1`, `$2`, …; `undefined` when they cannot be known. */
  positional: readonly Field[] | undefined
  functions: Map<string, ShellFunction>
  aliases: Map<string, string>
  cwds: readonly (string | undefined)[]
  input: Input
  /** What `exec < file` has put in the place of what this shell reads. */
  shell: { input?: Input }
  /** Redirections of what encloses this. */
  redirects: readonly Redirect[]
  /** Whether what stands here may also be left out: a branch, the right side of `&&`. */
  conditional: boolean
  loop: boolean
  /** How often what stands here runs at most; infinite where that cannot be known. */
  times: number
  depth: number
}

export function openScope(cwd: string): Scope {
  return {
    variables: new Map(),
    positional: [],
    functions: new Map(),
    aliases: new Map(),
    cwds: [cwd],
    input: { kind: 'none' },
    shell: {},
    redirects: [],
    conditional: false,
    loop: false,
    times: 1,
    depth: 0,
  }
}

/** For a subshell: it knows all that is known here, and what it changes is lost. */
export function innerScope(scope: Scope, change: Partial<Scope> = {}): Scope {
  return {
    ...scope,
    variables: copyOf(scope.variables),
    functions: copyOf(scope.functions),
    aliases: copyOf(scope.aliases),
    // What it is given itself comes before what this shell reads.
    shell: change.input ? {} : { ...scope.shell },
    depth: scope.depth + 1,
    ...change,
  }
}

/** Mostly there is nothing to copy, and then it is much cheaper not to ask the map for what it has. */
function copyOf<K, V>(map: ReadonlyMap<K, V>): Map<K, V> {
  return map.size > 0 ? new Map(map) : new Map()
}

const MOST_VALUES = 16

export function assign(scope: Scope, name: string, values: Values): void {
  const before = scope.conditional ? (scope.variables.get(name) ?? { texts: [], unknown: true }) : undefined
  const texts = [...new Set([...(before?.texts ?? []), ...values.texts])]
  const globs = [...new Set([...(before?.globs ?? []), ...(values.globs ?? [])])]
  const tooMany = texts.length > MOST_VALUES || globs.length > MOST_VALUES
  const isLocal = (one: Values) => !one.unknown || one.local === true
  scope.variables.set(name, {
    texts: texts.slice(0, MOST_VALUES),
    unknown: values.unknown || (before?.unknown ?? false) || tooMany,
    ...(globs.length > 0 && { globs: globs.slice(0, MOST_VALUES) }),
    ...(!tooMany && isLocal(values) && (!before || isLocal(before)) && { local: true }),
  })
}

/** Both may be true afterwards. */
export function joinCwds(
  one: readonly (string | undefined)[],
  other: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  if (one === other) return one
  const all = [...new Set([...one, ...other])]
  return all.length > MOST_VALUES ? [...all.slice(0, MOST_VALUES), undefined] : all
}
