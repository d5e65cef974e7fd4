/** The token that every API call must send. Created once per home, readable by its owner only. */
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function ensureToken(home: string): string {
  const path = join(home, 'token')
  const known = readQuietly(path)
  if (known && known.length >= 32) {
    chmodSync(path, 0o600)
    return known
  }
  const token = `rpt_${randomBytes(32).toString('base64url')}`
  writeToken(home, token)
  return token
}

/** Written atomically. */
export function writeToken(home: string, token: string): void {
  const path = join(home, 'token')
  writeFileSync(`${path}.new`, `${token}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function readQuietly(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}
