/** Relations between absolute, normalised paths. */

export const isInside = (path: string, dir: string) =>
  path !== dir && path.startsWith(dir === '/' ? '/' : `${dir}/`)

export const isWithin = (path: string, dir: string) => path === dir || isInside(path, dir)

/** `/` has depth 0, `/a/b` has depth 2. */
export const depthOf = (path: string) => (path === '/' ? 0 : path.split('/').length - 1)

/** The folders strictly between `dir` and `path`, outermost first. */
export function foldersBetween(dir: string, path: string): string[] {
  const parts = path.slice(dir === '/' ? 1 : dir.length + 1).split('/')
  const prefix = dir === '/' ? '' : dir
  return parts.slice(0, -1).map((_, i) => `${prefix}/${parts.slice(0, i + 1).join('/')}`)
}
