/**
 * The folder of a session that is used in a sandbox: what is seen as /tmp and the like, which lasts from attempt to attempt, and a list of
 * folders elsewhere that are to be removed with it. The agent sees its own folders only.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const DISPOSABLE = 'disposable.json'

export function prepareSessionDir(
  dir: string,
  folders: readonly string[],
  disposable: readonly string[],
): void {
  for (const name of folders) {
    mkdirSync(join(dir, name), { recursive: true, mode: 0o700 })
    // An earlier attempt may have taken away its own rights.
    chmodSync(join(dir, name), 0o700)
  }
  const all = new Set([...readDisposable(dir), ...disposable])
  writeFileSync(join(dir, DISPOSABLE), JSON.stringify([...all]), { mode: 0o600 })
}

export function readDisposable(dir: string): string[] {
  try {
    return JSON.parse(readFileSync(join(dir, DISPOSABLE), 'utf8'))
  } catch {
    // There is none, or a daemon was killed while writing it: then these folders stay.
    return []
  }
}
