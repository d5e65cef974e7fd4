/** Paths as text. Files are looked at only through the `realpath` that is handed in. */
import { spend } from './budget.ts'
import { type Field, type Surroundings, UNKNOWN } from './command.ts'

/** `undefined`: relative to somewhere that cannot be known. */
export function joinPath(cwd: string | undefined, path: string): string | undefined {
  if (joined.path === path && joined.cwd === cwd) return joined.whole
  const whole = path.startsWith('/')
    ? normalize(path)
    : cwd === undefined
      ? undefined
      : normalize(`${cwd}/${path}`)
  joined = { cwd, path, whole }
  return whole
}

/** One word of a command is looked at by several rules, one after the other. */
let joined: { cwd: string | undefined; path: string; whole: string | undefined } = {
  cwd: undefined,
  path: '',
  whole: undefined,
}

export function normalize(path: string): string {
  return isNormal(path) ? path : normalized(path)
}

/** Begins with a slash, ends without one, and has neither an empty part nor one that begins with a dot. */
export function isNormal(path: string): boolean {
  let slash = false
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at)
    if (code === SLASH) {
      if (slash) return false
      slash = true
    } else {
      if (at === 0 || (slash && code === DOT)) return false
      slash = false
    }
  }
  return path.length > 1 && !slash
}

export const SLASH = 0x2f
const DOT = 0x2e

function normalized(path: string): string {
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') kept.pop()
    else kept.push(part)
  }
  return `/${kept.join('/')}`
}

/** What a process has as its root, as its place, or open: that may be anything. */
const DETOUR = /^\/(proc\/[^/]+\/(task\/[^/]+\/)?(root|cwd|fd\/[^/]+(?=\/.))|dev\/fd\/[^/]+(?=\/.))/

/** Whether the path, as it is written, leads through such a place, be it only to leave it again. */
export function isDetour(cwd: string | undefined, path: string): boolean {
  if (!path.includes('..')) return leadsAround(joinPath(cwd, path) ?? '')
  const parts = (path.startsWith('/') ? path : `${cwd ?? ''}/${path}`).split('/')
  spend(parts.length * path.length)
  return parts.some((_, at) => leadsAround(`${normalize(parts.slice(0, at + 1).join('/'))}/.`))
}

const leadsAround = (path: string) =>
  (path.startsWith('/proc/') || path.startsWith('/dev/')) && DETOUR.test(path)

/** `.git`: a file of that name says where the repository is, so that writing it changes all that is in there. */
export const namesRepository = (path: string) => path.includes('.git') && /(^|\/)\.git\/*$/.test(path)

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
): string[] {
  const { text } = field
  spend(COST_OF_PATH + text.length)
  // Mostly it is known, there is one place that it may be in, and it is no link.
  const places = text.startsWith('/') ? ROOT : cwds
  if (places.length === 1 && places[0] !== undefined && isKnown(field)) {
    const path = joinPath(places[0], text) as string
    const real = realpath(path)
    return real === path ? [path] : [path, real]
  }
  const paths: string[] = []
  for (const cwd of places) {
    const path = text.startsWith(UNKNOWN) ? undefined : joinPath(cwd, text)
    if (path === undefined) {
      // Somewhere: the name alone may still be a protected one.
      addOnce(paths, normalize(`/${SOMEWHERE}/${text}`))
      continue
    }
    addOnce(paths, path)
    addOnce(paths, resolveLinks(path, field, realpath))
    // `x/..` is not where it was if x is a link.
    if (text.includes('..') && cwd !== undefined) {
      addOnce(paths, normalize(realpath(text.startsWith('/') ? text : `${cwd}/${text}`)))
    }
  }
  return paths
}

const ROOT = ['/']
/** The file system may be asked about it. */
const COST_OF_PATH = 20

/** All of it, and where it leads to. */
const isKnown = ({ text, unknown, glob }: Field) =>
  !unknown && !glob && text.charCodeAt(0) !== 0 && !text.includes('..')

/** They are few. */
function addOnce(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text)
}

function resolveLinks(path: string, field: Field, realpath: (path: string) => string): string {
  if (!field.unknown && !field.glob) return realpath(path)
  const special = path.search(field.glob ? /[\0*?[]/ : /\0/)
  if (special === -1) return realpath(path)
  const slash = path.lastIndexOf('/', special)
  return slash <= 0 ? path : normalize(`${realpath(path.slice(0, slash))}/${path.slice(slash)}`)
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
    .replaceAll(/\*+/g, '[^/]*')
  const made = new RegExp(`^${source}$`, 's')
  if (compiled.size < 1000) compiled.set(pattern, made)
  return made
}
