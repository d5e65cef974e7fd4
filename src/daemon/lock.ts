/**
 * One daemon per home. The lock is a transaction held open on a database of its own: the kernel lets go of it when
 * the process dies, however it dies, so it can be neither stale nor forgotten.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RepriseError } from '../contract/errors.ts'
import { DaemonFile } from '../contract/http.ts'

export function lockHome(home: string): { release: () => void } {
  const lock = new DatabaseSync(join(home, 'lock.db'))
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive;')
  } catch (cause) {
    lock.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause
    const holder = readDaemonFile(home)
    throw new RepriseError(
      'home-locked',
      `another daemon is using ${home}${holder ? `: pid ${holder.pid}, ${holder.url}` : ''}`,
      { hint: 'Use that one, end it with `reprise down`, or set another REPRISE_HOME.', details: holder },
    )
  }
  return { release: () => lock.close() }
}

const SQLITE_BUSY = 5

export function readDaemonFile(home: string): DaemonFile | null {
  try {
    return DaemonFile.parse(JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')))
  } catch {
    return null
  }
}
