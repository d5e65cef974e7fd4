/**
 * Paths that no agent at a tier may change. A pattern is a path in which `*` stands for one name, or a part of it, and
 * `**` for anything below. One without a leading slash holds in every directory.
 */
import { GLOB, normalize, type PathFacts } from './paths.ts'

interface PathPattern {
  source: string
  segments: readonly string[]
  everywhere: boolean
  /**
   * Whether a directory that contains such a file may not be changed as a whole either. That is not so for files which
   * are always protected and are in every work tree, such as `.git/config`.
   */
  guardsParents: boolean
}

export interface ProtectedPaths {
  patterns: readonly PathPattern[]
}

export interface ProtectedRules {
  protectedPaths: readonly string[]
  /** Protected besides, whatever is configured. */
  alwaysProtected?: readonly string[]
}

export function compileProtectedPaths(rules: ProtectedRules, home: string): ProtectedPaths {
  const compile = (source: string, always: boolean): PathPattern => {
    const path = source.startsWith('~/') ? home + source.slice(1) : source
    const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
    const everywhere = !path.startsWith('/')
    return { source, segments, everywhere, guardsParents: !everywhere || (!always && segments[0] !== '.git') }
  }
  return {
    patterns: [
      ...rules.protectedPaths.map((source) => compile(source, false)),
      ...(rules.alwaysProtected ?? []).map((source) => compile(source, true)),
    ],
  }
}

export interface Change {
  path: string
  /** What is below the path is changed too. */
  deep: boolean
  /** Only if this is a directory. */
  inside?: string
  /** Some files of the work tree that the directory belongs to. */
  tree?: true
}

export interface ChangedFiles {
  changes: Change[]
  /** The program has an option that is not known. */
  unsure: boolean
}

/** The pattern of the first protected path that the change may touch. The path is absolute and may have `*` and `?`. */
export function protectedBy(
  { path, deep }: Change,
  { patterns }: ProtectedPaths,
  exists: PathFacts['exists'],
): string | undefined {
  const names = path.split('/').filter(Boolean)
  // A file `.git` says where the repository is, so changing it changes all that is in there.
  const whole = deep || names.at(-1) === '.git'
  return patterns.find((pattern) => touches(names, pattern, whole, exists))?.source
}

function touches(
  names: readonly string[],
  { segments, everywhere, guardsParents }: PathPattern,
  deep: boolean,
  exists: PathFacts['exists'],
): boolean {
  if (!everywhere) return meets(names, 0, segments, 0, deep)
  for (let from = 0; from < names.length; from++) {
    if (!meets(names, from, segments, 0, deep)) continue
    const name = names[from] ?? ''
    // `*` would touch nearly every such pattern, so it counts only if the file is there.
    if (!GLOB.test(name) || name.startsWith('.') || exists(there(names.slice(0, from), segments))) return true
  }
  return deep && guardsParents && exists(there(names, segments))
}

/** The pattern's file in a directory, up to the first `*` in either of them. */
function there(dir: readonly string[], segments: readonly string[]): string {
  const all = [...dir, ...segments]
  const wild = all.findIndex((name) => GLOB.test(name))
  return normalize((wild === -1 ? all : all.slice(0, wild)).join('/'))
}

/** Whether the path, from one place on, is or lies below what the pattern names; `deep`: or contains it. */
function meets(
  names: readonly string[],
  from: number,
  segments: readonly string[],
  at: number,
  deep: boolean,
): boolean {
  const segment = segments[at]
  if (segment === undefined) return true
  if (segment === '**') {
    // `/volumes` itself is part of what `/volumes/**` protects.
    if (at === segments.length - 1) return true
    for (let next = from; next <= names.length; next++)
      if (meets(names, next, segments, at + 1, deep)) return true
    return false
  }
  const name = names[from]
  if (name === undefined) return deep
  return namesMeet(name, segment) && meets(names, from + 1, segments, at + 1, deep)
}

function namesMeet(name: string, segment: string): boolean {
  if (name === segment) return true
  const [isWild, isPattern] = [hasGlob(name), hasGlob(segment)]
  // `*` stands for no name that begins with a dot.
  if (isWild && segment.startsWith('.') && !name.startsWith('.')) return false
  if (isWild && isPattern) return true
  return isWild ? matchesName(name, segment) : isPattern && matchesName(segment, name)
}

/** Asked for every name and pattern, so it is written to be fast. */
const hasGlob = (text: string) => text.includes('*') || text.includes('?') || text.includes('[')

/** Whether a name matches `*`, `?` and `[…]`, of which the last stands for any character. Never slow: no backtracking. */
function matchesName(pattern: string, name: string): boolean {
  const tokens = pattern.match(/\*+|\[[^\]]*\]?|[^*[]/g) ?? []
  let at = 0
  let star = -1
  let resume = 0
  for (let from = 0; from < name.length; ) {
    const token = tokens[at]
    if (token?.startsWith('*')) {
      star = at++
      resume = from
    } else if (token !== undefined && (token === '?' || token.startsWith('[') || token === name[from])) {
      at++
      from++
    } else if (star === -1) return false
    else {
      at = star + 1
      from = ++resume
    }
  }
  return tokens.slice(at).every((token) => token.startsWith('*'))
}
