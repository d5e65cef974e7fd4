import { type FSWatcher, watch } from 'node:fs'

/**
 * Change notifications are hints. Watching can fail (too many watches, unusual file systems); callers that poll work
 * without it.
 */
export function watchQuietly(path: string, onChange: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(path, { persistent: false }, (_, name) => onChange(name))
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
