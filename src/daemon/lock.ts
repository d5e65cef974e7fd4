/** A lock that allows one daemon per home. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RepriseError } from '../contract/errors.ts'
import { DaemonFile } from '../contract/http.ts'
import { lockFile } from '../store/sqlite/file-lock.ts'

export function lockHome(home: string): { release: () => void } {
  const lock = lockFile(join(home, 'lock.db'))
  if (lock) return lock
  const holder = readDaemonFile(home)
  throw new RepriseError(
    'home-locked',
    `another daemon is using ${home}${holder ? `: pid ${holder.pid}, ${holder.url}` : ''}`,
    { hint: 'Use that one, stop it with `reprise down`, or set another REPRISE_HOME.', details: holder },
  )
}

export function readDaemonFile(home: string): DaemonFile | null {
  try {
    return DaemonFile.parse(JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')))
  } catch {
    return null
  }
}
