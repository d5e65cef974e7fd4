/**
 * The home: the directory with all state of one Reprise. Finds it, creates it, and makes it private to the user. Files in
 * it that another user has made, or can change, are an error: Reprise would trust them.
 */
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { RepriseError } from '../contract/errors.ts'
import type { Environment } from './environment.ts'
import { describeFinding, inspectHome, OPEN_TO_OTHERS } from './inspect-home.ts'

/** Absolute path of the home: `REPRISE_HOME`, else `~/.reprise`. Touches nothing. */
export function resolveHome({ env, cwd }: { env: Environment; cwd: string }): string {
  const asked = env.REPRISE_HOME?.trim()
  if (!asked) return join(userHome(env), '.reprise')
  if (asked === '~' || asked.startsWith('~/')) return join(userHome(env), asked.slice(1))
  return resolve(cwd, asked)
}

/** An empty HOME counts as not set: the user's home directory is then the one that the system knows. */
function userHome(env: Environment): string {
  const known = env.HOME || knownHome()
  if (known) return known
  throw new RepriseError(
    'home-unusable',
    'HOME is empty, and the system knows no home directory of this user',
    {
      hint: 'Set HOME, or REPRISE_HOME to a directory for the state of Reprise.',
    },
  )
}

function knownHome(): string | null {
  try {
    return userInfo().homedir
  } catch {
    return null
  }
}

/**
 * Identifies the directory itself: the same after a rename or through a link, different for a copy or for a directory
 * that is created later at the same path. Null if there is none.
 */
export function identifyHome(home: string): string | null {
  try {
    const { dev, ino, birthtimeNs } = statSync(home, { bigint: true })
    return `${dev}:${ino}:${birthtimeNs}`
  } catch {
    return null
  }
}

/** Makes the home usable or throws `home-unusable`. Returns notes about what was repaired. */
export function ensureHome(home: string): string[] {
  try {
    makeDirectory(home)
    const notes = makePrivate(home)
    tryWriting(home)
    return notes
  } catch (error) {
    if (error instanceof RepriseError) throw error
    throw unusable(home, error as NodeJS.ErrnoException)
  }
}

/** Not Node's `recursive`: it never returns where the system answers ENOENT to every attempt, as in /proc. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  try {
    mkdirSync(path, 0o700)
  } catch (error) {
    // Another process may have created it first.
    const made = (error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(path).isDirectory()
    if (!made) throw error
  }
}

function makePrivate(home: string): string[] {
  const notes: string[] = []
  for (const finding of inspectHome(home)) {
    const described = describeFinding(finding)
    if (finding.kind === 'open') {
      chmodSync(finding.path, finding.path === home ? 0o700 : finding.mode & ~OPEN_TO_OTHERS)
      // The mode of the home protected its content, unless it was open too.
      if (finding.path === home) {
        const mode = finding.mode.toString(8)
        notes.push(`${home} was open to other users (mode ${mode}); it is now private (mode 700).`)
      }
    } else if (finding.kind === 'replaceable') {
      notes.push(`Warning: ${described?.says}. ${described?.hint}`)
    } else {
      throw new RepriseError('home-unusable', `Cannot use ${home} as home: ${described?.says}.`, {
        hint: described?.hint ?? '',
        details: { home, finding },
      })
    }
  }
  return notes
}

/** Writes a byte, because permission bits do not tell whether a disk is read-only or full. */
function tryWriting(home: string): void {
  const probe = join(home, `.write-test-${process.pid}`)
  const file = openSync(probe, 'w', 0o600)
  try {
    writeSync(file, '.')
  } finally {
    closeSync(file)
    rmSync(probe, { force: true })
  }
}

const ELSEWHERE = 'or set REPRISE_HOME to another directory'

const EXPLANATIONS: Readonly<Record<string, { says: string; hint: string }>> = {
  EACCES: { says: 'this user may not write there', hint: `Give this user access, ${ELSEWHERE}.` },
  EPERM: { says: 'it belongs to another user', hint: `Run as its owner, ${ELSEWHERE}.` },
  EROFS: { says: 'the file system is read-only', hint: `Mount it writable, ${ELSEWHERE}.` },
  ENOSPC: { says: 'the disk is full', hint: `Free some space, ${ELSEWHERE}.` },
  EDQUOT: { says: 'your disk quota is used up', hint: `Free some space, ${ELSEWHERE}.` },
  ENOENT: { says: 'it cannot be created at that path', hint: `Correct the path, ${ELSEWHERE}.` },
  EEXIST: { says: 'a file has that name', hint: `Move that file away, ${ELSEWHERE}.` },
  ENOTDIR: { says: 'a part of the path is not a directory', hint: `Correct the path, ${ELSEWHERE}.` },
  ENAMETOOLONG: { says: 'the path is too long', hint: 'Set REPRISE_HOME to a shorter path.' },
}

/** Errors of the disk, whichever file they are about. */
const OF_THE_DISK: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS']

/** Explains an error while writing into the home if the disk caused it. Other errors are returned unchanged. */
export function explainDisk(home: string, error: unknown): unknown {
  const { code } = (error ?? {}) as { code?: unknown }
  return OF_THE_DISK.includes(code) ? unusable(home, error as NodeJS.ErrnoException) : error
}

function unusable(home: string, cause: NodeJS.ErrnoException): RepriseError {
  const known = EXPLANATIONS[cause.code ?? '']
  return new RepriseError('home-unusable', `Cannot use ${home} as home: ${known?.says ?? cause.message}.`, {
    hint: known?.hint ?? `Check that path, ${ELSEWHERE}.`,
    details: { home, cause: cause.code ?? cause.message },
    cause,
  })
}
