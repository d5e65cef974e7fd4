/** A lock that allows one engine per home, be it in a daemon or in another program. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RepriseError } from '../contract/errors.ts'
import { DaemonFile } from '../contract/http.ts'
import { lockFile } from '../store/sqlite/file-lock.ts'

/** `lock.json` says who has locked the home. It is only for messages: the lock itself is the open database. */
export interface Holder {
  pid: number
  kind: 'daemon' | 'program'
}

export function lockHome(home: string, kind: Holder['kind']): { release: () => void } {
  const lock = lockFile(join(home, 'lock.db'))
  if (!lock) throw lockedError(home)
  const file = join(home, 'lock.json')
  writeFileSync(`${file}.new`, `${JSON.stringify({ pid: process.pid, kind } satisfies Holder)}\n`, {
    mode: 0o600,
  })
  renameSync(`${file}.new`, file)
  return {
    release: () => {
      if (readHolder(home)?.pid === process.pid) rmSync(file, { force: true })
      lock.release()
    },
  }
}

function lockedError(home: string): RepriseError {
  const holder = readHolder(home)
  if (holder?.kind === 'program') {
    const where = holder.pid === process.pid ? 'this process' : `the process ${holder.pid}`
    return new RepriseError('home-locked', `an engine in ${where} is using ${home}`, {
      hint: 'Close that one first (`await reprise.close()`), use it, or choose another home.',
      details: holder,
    })
  }
  const daemon = readDaemonFile(home)
  return new RepriseError(
    'home-locked',
    `another daemon is using ${home}${daemon ? `: pid ${daemon.pid}, ${daemon.url}` : ''}`,
    {
      hint: 'Use that one, stop it with `reprise down`, or set another REPRISE_HOME.',
      details: { ...holder, ...daemon },
    },
  )
}

function readHolder(home: string): Holder | null {
  try {
    const { pid, kind } = JSON.parse(readFileSync(join(home, 'lock.json'), 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && (kind === 'daemon' || kind === 'program')
      ? { pid: pid as number, kind }
      : null
  } catch {
    return null
  }
}

export function readDaemonFile(home: string): DaemonFile | null {
  try {
    return DaemonFile.parse(JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')))
  } catch {
    return null
  }
}
