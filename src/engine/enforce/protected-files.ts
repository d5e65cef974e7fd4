/**
 * Finds the files and folders that rules protect inside of a folder that an agent may write, so that a sandbox can make them read-only.
 * The rules are patterns such as `.git/hooks/**` or `/volumes/**`; one without a leading slash applies in every directory.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface ProtectedFiles {
  paths: string[]
  /** False: the folder has too many entries, and some were not looked at. */
  complete: boolean
}

const MOST_ENTRIES = 20_000
/** Large folders in which nothing of a project is configured. */
const SKIPPED = new Set(['node_modules', 'objects', '.venv', '__pycache__'])

export function findProtected(
  root: string,
  patterns: readonly string[],
  home: string,
  mostEntries = MOST_ENTRIES,
): ProtectedFiles {
  const isProtected = compileAll(patterns, home)
  const paths: string[] = []
  let seen = 0
  // Breadth first: what is configured for a project is near its top.
  for (const dirs = [root]; dirs.length > 0 && seen < mostEntries; ) {
    const dir = dirs.shift() ?? root
    for (const entry of list(dir)) {
      seen++
      const path = join(dir, entry.name)
      if (isProtected(path)) paths.push(path)
      else if (entry.isDirectory() && !SKIPPED.has(entry.name)) dirs.push(path)
    }
  }
  return { paths, complete: seen < mostEntries }
}

function list(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}

/** A pattern that covers everything in a folder covers the folder. */
function compileAll(patterns: readonly string[], home: string): (path: string) => boolean {
  if (patterns.length === 0) return () => false
  const sources = patterns.map((pattern) => {
    const path = pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern
    const segments = path.replace(/\/\*\*$/, '').split('/')
    return (path.startsWith('/') ? '' : '(?:/.*)?/') + segments.map(segmentSource).join('').replace(/\/$/, '')
  })
  const any = new RegExp(`^(?:${sources.join('|')})$`)
  return (path) => any.test(path)
}

function segmentSource(segment: string): string {
  if (segment === '**') return '(?:.*/)?'
  const escaped = segment.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  return `${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`
}
