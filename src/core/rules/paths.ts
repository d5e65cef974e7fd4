/** Paths as text; nothing here looks at a file system. */

export const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1)

export const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'

/** An absolute path without `.`, `..` and repeated slashes; links are not followed. */
export function absolutePath(path: string, cwd: string, home: string): string {
  const text = path.replace(/^file:\/\//, '').replace(/^~(?=\/|$)/, home)
  const kept: string[] = []
  for (const part of (text.startsWith('/') ? text : `${cwd}/${text}`).split('/')) {
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(part)
  }
  return `/${kept.join('/')}`
}
