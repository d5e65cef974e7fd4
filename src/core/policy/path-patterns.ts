/** Patterns of protected paths, and whether a path may touch what they name. */
import { spend } from './budget.ts'
import { UNKNOWN } from './command.ts'
import { isNormal, normalize, SLASH, wildcard } from './paths.ts'

/** A pattern of protected paths. One without a leading slash holds in every directory. */
export interface PathPattern {
  source: string
  segments: readonly string[]
  /** Its text up to the first `*`, by which a text speaks of it; empty where programs are, which every text may name. */
  start: string
  /**
   * Of one that holds everywhere: what is there if the pattern names something in a directory. None where git keeps its
   * own files, nor for what is always protected: else nothing could be done to a directory as a whole.
   */
  inside: string | undefined
  /** Behind a path that is normal, it stays as it is. */
  insideIsNormal: boolean
  /** What it begins with, if that is written out. */
  name: string | undefined
  /** Inside what programs are told of to find what is installed: naming that does not mean that this is changed. */
  installed: boolean
}

export function compilePathPattern(source: string, home: string, always = false): PathPattern {
  const path = source.startsWith('~/') ? home + source.slice(1) : source
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  const start = literalStart(source)
  const everywhere = !path.startsWith('/')
  const inside = everywhere && !always && segments[0] !== '.git' && !WILD.test(start) ? start : ''
  const [first = '**'] = segments
  return {
    source,
    segments: everywhere ? ['**', ...segments] : segments,
    start: PROGRAMS.test(source) ? '' : start,
    inside: inside || undefined,
    insideIsNormal: normalize(inside) === `/${inside}`,
    name: WILD.test(first) ? undefined : first,
    installed: always && /^\/(usr|lib)\//.test(path),
  }
}

const PROGRAMS = /^\/usr\/local\/s?bin\//

const literalStart = (text: string) => text.replace(/\/?[*?[].*$/s, '')

/** Patterns, found by the names in a path: most paths have none that any of them begins with. */
export class PathIndex {
  readonly all: readonly PathPattern[]
  private readonly names: ReadonlySet<string | undefined>
  /** Those that need no name of theirs in the path. */
  private readonly nameless: readonly PathPattern[]
  /** The same, where what is below the path counts too. */
  private readonly holding: readonly PathPattern[]

  constructor(patterns: readonly PathPattern[]) {
    this.all = patterns
    this.names = new Set(patterns.map(({ name }) => name))
    this.nameless = patterns.filter(({ name }) => name === undefined)
    this.holding = patterns.filter(({ name, inside }) => name === undefined || inside !== undefined)
  }

  /** The first one that the path may touch. */
  firstTouchedBy(path: string, touch: Touch): PathPattern | undefined {
    const { segments, plain } = splitPath(path)
    if (!plain || segments.length === 0 || this.hasName(segments)) {
      for (const pattern of this.all) if (mayTouch(path, pattern, touch)) return pattern
      return undefined
    }
    // No name is in the path: of those that have one, only what is below it may be meant.
    for (const pattern of touch.deep ? this.holding : this.nameless) {
      if (pattern.name === undefined ? mayTouch(path, pattern, touch) : holds(path, pattern, touch.exists))
        return pattern
    }
    return undefined
  }

  private hasName(segments: readonly string[]): boolean {
    for (const segment of segments) if (this.names.has(segment)) return true
    return false
  }
}

export interface Touch {
  /** What is below the path may be changed too. */
  deep: boolean
  /** Files of a work tree that are there may be changed, others are not of interest. */
  tree?: boolean
  /** It is certain that the path is what is changed. */
  sure?: boolean
  exists: (path: string) => boolean
}

/**
 * Whether a path may be, or lie below, what the pattern names; with `deep`, also whether it may contain that. The path
 * may have `*`, `?` and unknown parts: what may touch, touches. A pattern that holds everywhere would touch nearly
 * every `*`, so there one of its names must be written out, or the file must be there.
 */
function mayTouch(path: string, pattern: PathPattern, { deep, tree, sure, exists }: Touch): boolean {
  const { segments, plain } = splitPath(path)
  // Mostly the name that the pattern begins with is not in the path, so that only what is below it may be meant.
  if (plain && pattern.name !== undefined && !segments.includes(pattern.name)) {
    if (pattern.segments[0] === '**') return deep && holds(path, pattern, exists)
    if (!deep || segments.length > 0) return false
  }
  if (pattern.segments[0] !== '**') {
    if (touches(segments, 0, pattern.segments, 0, false, true)) return true
    return (
      deep &&
      (sure === true || !pattern.installed) &&
      touches(segments, 0, pattern.segments, 0, true, true) &&
      (!tree || exists(literalStart(`/${pattern.segments.join('/')}`)))
    )
  }
  for (let from = 0; from < segments.length; from++) {
    if (touches(segments, from, pattern.segments, 1, false, false)) return true
    // `.git` as a whole, for `.git/config`.
    if (deep && !tree && touches(segments, from, pattern.segments, 1, true, false)) return true
  }
  if (!plain && isThere(segments, pattern.segments.slice(1), deep && !tree, exists)) return true
  return deep && holds(path, pattern, exists)
}

/** Whether a path, by `*` and the like, may be what is there under the names of a pattern. */
function isThere(
  path: readonly string[],
  names: readonly string[],
  deep: boolean,
  exists: Touch['exists'],
): boolean {
  const wild = names.findIndex((name) => WILD.test(name))
  const known = wild === -1 ? names : names.slice(0, wild)
  const fewest = deep ? 1 : known.length + (wild === -1 || names[wild] === '**' ? 0 : 1)
  for (let from = 0; from + fewest <= path.length; from++) {
    const found = known.slice(0, path.length - from)
    const meets = found.every((name, index) => segmentsMeet(path[from + index] ?? '', name, false))
    if (meets && found.length > 0 && exists(`/${[...path.slice(0, from), ...found].join('/')}`)) return true
    // Nobody knows what lies behind it.
    if (WILD.test(path[from] ?? '') || path[from]?.includes(UNKNOWN)) return false
  }
  return false
}

function holds(path: string, { inside, insideIsNormal }: PathPattern, exists: Touch['exists']): boolean {
  if (inside === undefined) return false
  const whole = `${path}/${inside}`
  return exists(insideIsNormal && isNormal(path) ? whole : normalize(whole))
}

/** The first pattern that one of the paths may touch. */
export function firstTouched(
  patterns: PathIndex,
  paths: readonly string[],
  touch: Touch,
): { path: string; pattern: PathPattern } | undefined {
  for (const path of paths) {
    spend(patterns.all.length + path.length)
    const pattern = patterns.firstTouchedBy(path, touch)
    if (pattern) return { path, pattern }
  }
  return undefined
}

let split: { path: string; segments: readonly string[]; plain: boolean } | undefined

/** One path is held against many patterns. `plain`: all of it is known. */
function splitPath(path: string) {
  if (split?.path === path) return split
  const segments: string[] = []
  let plain = true
  let from = 0
  for (let at = 0; at <= path.length; at++) {
    const code = at === path.length ? SLASH : path.charCodeAt(at)
    if (code === SLASH) {
      if (at > from) segments.push(path.slice(from, at))
      from = at + 1
    } else if (code === 0 || code === 0x2a || code === 0x3f || code === 0x5b) plain = false
  }
  split = { path, segments, plain }
  return split
}

/** From the given places on. `seen`: a name of the pattern is in the path, written out. */
function touches(
  path: readonly string[],
  from: number,
  pattern: readonly string[],
  at: number,
  deep: boolean,
  seen: boolean,
): boolean {
  const first = pattern[at]
  if (first === undefined) return seen
  const isLast = at + 1 === pattern.length
  if (first === '**') {
    if (isLast) return seen
    for (let next = from; next < path.length; next++)
      if (touches(path, next, pattern, at + 1, deep, seen)) return true
    return false
  }
  const segment = path[from]
  if (segment === undefined) return deep && seen
  if (!segmentsMeet(segment, first, seen)) return false
  const named = seen || !WILD.test(segment)
  if (touches(path, from + 1, pattern, at + 1, deep, named)) return true
  // `/volumes` itself is part of what `/volumes/**` protects.
  return named && from + 1 === path.length && at + 2 === pattern.length && pattern[at + 1] === '**'
}

const WILD = /[*?[]/
function segmentsMeet(one: string, other: string, seen: boolean): boolean {
  if (one === other) return true
  if (!seen && (one === UNKNOWN || (WILD.test(one) && other.startsWith('.') && !one.startsWith('.'))))
    // It may be any name, and `*` stands for none that begins with a dot.
    return false
  if (one.includes(UNKNOWN)) return wildcard(one.replaceAll(UNKNOWN, '*')).test(other) || WILD.test(other)
  if (WILD.test(one) && WILD.test(other)) return true
  return WILD.test(other) ? wildcard(other).test(one) : WILD.test(one) && wildcard(one).test(other)
}
