/** Paths as text. Files are looked at only through the `realpath` that is handed in. */
import { type Field, type Surroundings, UNKNOWN } from './command.ts'

/** `undefined`: relative to somewhere that cannot be known. */
export function joinPath(cwd: string | undefined, path: string): string | undefined {
  if (path.startsWith('/')) return normalize(path)
  return cwd === undefined ? undefined : normalize(`${cwd}/${path}`)
}

export function normalize(path: string): string {
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') kept.pop()
    else kept.push(part)
  }
  return `/${kept.join('/')}`
}

/** A directory that cannot be known. */
const SOMEWHERE = '…'

/**
 * Every path that a field may mean, as written and with symbolic links resolved. Where the text is a pattern or partly
 * unknown, links are resolved in the part before.
 */
export function pathsOf(
  field: Field,
  cwds: readonly (string | undefined)[],
  { realpath }: Surroundings,
): { paths: string[]; certain: boolean } {
  const paths = new Set<string>()
  let certain = !field.unknown || field.text.startsWith('/')
  for (const cwd of field.text.startsWith('/') ? ['/'] : cwds) {
    const path = field.text.startsWith(UNKNOWN) ? undefined : joinPath(cwd, field.text)
    if (path === undefined) {
      certain = false
      // Somewhere: the name alone may still be a protected one.
      paths.add(normalize(`/${SOMEWHERE}/${field.text}`))
      continue
    }
    paths.add(path)
    paths.add(resolveLinks(path, field, realpath))
    // `x/..` is not where it was if x is a link.
    if (field.text.includes('..') && cwd !== undefined) {
      paths.add(normalize(realpath(field.text.startsWith('/') ? field.text : `${cwd}/${field.text}`)))
    }
  }
  return { paths: [...paths], certain }
}

function resolveLinks(path: string, field: Field, realpath: (path: string) => string): string {
  if (!field.unknown && !field.glob) return realpath(path)
  const special = path.search(field.glob ? /[\0*?[]/ : /\0/)
  if (special === -1) return realpath(path)
  const slash = path.lastIndexOf('/', special)
  return slash <= 0 ? path : normalize(`${realpath(path.slice(0, slash))}/${path.slice(slash)}`)
}

/** A pattern of protected paths. One without a leading slash holds in every directory. */
export interface PathPattern {
  source: string
  segments: readonly string[]
}

export function compilePathPattern(source: string, home: string): PathPattern {
  const path = source.startsWith('~/') ? home + source.slice(1) : source
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return { source, segments: path.startsWith('/') ? segments : ['**', ...segments] }
}

/**
 * Whether a path may be, or lie below, what the pattern names; with `deep`, also whether it may contain that. The path
 * may have `*`, `?` and unknown parts: what may touch, touches. A pattern that holds everywhere would touch nearly
 * every `*`, so there the file must be there.
 */
export function mayTouch(
  path: string,
  pattern: PathPattern,
  { deep, exists }: { deep: boolean; exists: (path: string) => boolean },
): boolean {
  const segments = path.split('/').filter((segment) => segment !== '')
  const [first, ...rest] = pattern.segments
  if (first !== '**') return touches(segments, pattern.segments, deep)
  if (segments.some((_, index) => touches(segments.slice(index), rest, false, true))) return true
  const name = rest.length === 1 ? rest[0] : undefined
  if (name === undefined || /[*?[]/.test(name)) return false
  const last = segments.at(-1) ?? ''
  const parent = `/${segments.slice(0, -1).join('/')}`
  if (/[*?]/.test(last) && wildcard(last).test(name) && exists(normalize(`${parent}/${name}`))) return true
  return deep && exists(normalize(`${path}/${name}`))
}

function touches(
  path: readonly string[],
  pattern: readonly string[],
  deep: boolean,
  anywhere = false,
): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return true
  if (first === '**')
    return rest.length === 0 || path.some((_, index) => touches(path.slice(index), rest, deep))
  const [segment, ...below] = path
  if (segment === undefined) return deep
  if (!segmentsMeet(segment, first, anywhere)) return false
  // `/volumes` itself is part of what `/volumes/**` protects.
  return touches(below, rest, deep, anywhere) || (below.length === 0 && rest.length === 1 && rest[0] === '**')
}

const WILD = /[*?[]/

function segmentsMeet(one: string, other: string, anywhere: boolean): boolean {
  if (one === other) return true
  if (anywhere && (one === UNKNOWN || WILD.test(one))) return false
  if (one.includes(UNKNOWN)) return wildcard(one.replaceAll(UNKNOWN, '*')).test(other) || WILD.test(other)
  if (WILD.test(one) && WILD.test(other)) return true
  return WILD.test(other) ? wildcard(other).test(one) : WILD.test(one) && wildcard(one).test(other)
}

const compiled = new Map<string, RegExp>()

/** `*` and `?` as for names of files. */
export function wildcard(pattern: string): RegExp {
  const known = compiled.get(pattern)
  if (known) return known
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll(/\[[^\]]*\]?/g, '[^/]')
    .replaceAll('?', '[^/]')
    .replaceAll('*', '[^/]*')
  const made = new RegExp(`^${source}$`, 's')
  if (compiled.size < 1000) compiled.set(pattern, made)
  return made
}
