/** Checks the paths that a tier may write or not see, as far as they can be judged before a work directory is known. */
import { homedir } from 'node:os'
import { isAbsolute, normalize } from 'node:path'
import type { TierConfig } from './policy-schema.ts'

/** The sandbox itself decides what is there. */
const RESERVED = ['/proc', '/dev', '/sys']

export function fileProblems(
  { files = {} }: Pick<TierConfig, 'files'>,
  home = homedir(),
): { key: 'write' | 'hidden'; message: string }[] {
  const { write = [], hidden = [] } = files
  const at = (path: string) => strip(normalize(path.replace(/^~(?=\/|$)/, home)))
  const hides = new Set(hidden.map(at))
  const problemOf = (key: 'write' | 'hidden', path: string): string | null => {
    const place = at(path)
    if (!isAbsolute(place)) return null
    if (place === '/' || RESERVED.some((dir) => isWithin(place, dir)))
      return `${path} cannot be listed: the sandbox decides what is there`
    if (key === 'hidden') return null
    if (isWithin(strip(home), place))
      return `${path} contains your home directory, so it cannot be writable: name folders inside of it`
    if (hides.has(place)) return `${path} is also listed in hidden: remove one of the two`
    return null
  }
  return (['write', 'hidden'] as const).flatMap((key) =>
    (key === 'write' ? write : hidden).flatMap((path) => {
      const message = problemOf(key, path)
      return message === null ? [] : [{ key, message }]
    }),
  )
}

const strip = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
const isWithin = (path: string, dir: string) => path === dir || path.startsWith(`${dir}/`)
