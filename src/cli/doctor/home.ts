/** Checks whether the home directory can be used, without changing it. */
import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeFinding, inspectHome } from '../../config/inspect-home.ts'
import { formatBytes } from '../terminal/amounts.ts'
import { type Check, fail, ok, warn } from './check.ts'

const TOO_FULL_BYTES = 50 * 2 ** 20
const RATHER_FULL_BYTES = 2 ** 30

export async function checkHome(home: string): Promise<Check[]> {
  const info = await stat(home).catch((error: NodeJS.ErrnoException) => error)
  if (!(info instanceof Error)) return [await checkExisting(home, info), await checkSpace(home)]
  if (info.code !== 'ENOENT') {
    return [fail('home', `${home} cannot be used: ${info.message}`, 'Set REPRISE_HOME to another directory.')]
  }
  const parent = await nearestExisting(dirname(home))
  if (!(await isWritable(parent))) {
    return [
      fail(
        'home',
        `${home} cannot be created: ${parent} is not writable`,
        'Set REPRISE_HOME to another directory.',
      ),
    ]
  }
  return [ok('home', `${home} will be created`), await checkSpace(parent)]
}

async function checkExisting(
  home: string,
  info: { mode: number; isDirectory: () => boolean },
): Promise<Check> {
  if (!info.isDirectory()) {
    return fail('home', `${home} is not a directory`, 'Move that file away, or set REPRISE_HOME.')
  }
  if (!(await isWritable(home))) {
    return fail(
      'home',
      `${home} is not writable for this user`,
      'Give this user access, or set REPRISE_HOME.',
    )
  }
  for (const finding of inspectHome(home)) {
    const described = describeFinding(finding)
    if (described === null) continue
    const report = finding.kind === 'replaceable' ? warn : fail
    return report('home', described.says, described.hint)
  }
  const mode = info.mode & 0o777
  if ((mode & 0o077) !== 0) {
    return warn('home', `${home} is open to other users (mode ${mode.toString(8)})`, `Run: chmod 700 ${home}`)
  }
  return ok('home', `${home} is writable, for this user only`)
}

async function checkSpace(path: string): Promise<Check> {
  const { bavail, bsize } = await statfs(path)
  const free = bavail * bsize
  const message = `${formatBytes(free)} free on the disk of ${path}`
  const hint = 'Free some space, or set REPRISE_HOME to another disk.'
  if (free < TOO_FULL_BYTES) return fail('disk', message, hint)
  return free < RATHER_FULL_BYTES ? warn('disk', message, hint) : ok('disk', message)
}

async function nearestExisting(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  )
  return exists || dirname(path) === path ? path : nearestExisting(dirname(path))
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}
