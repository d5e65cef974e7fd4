/**
 * Reads a file that an agent could exchange at any time. What is checked and what is read are the same: the file is opened first, and then
 * asked where it is.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs'

export type CheckedFile =
  | { kind: 'file'; content: Buffer }
  | { kind: 'folder' }
  | { kind: 'unusable'; why: string }

export function readChecked(
  path: string,
  isHidden: (path: string) => boolean,
  mostBytes: number,
): CheckedFile {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (error) {
    return unusable(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
  }
  try {
    const real = readlinkSync(`/proc/self/fd/${descriptor}`)
    // /proc/self is this process, with the user's environment.
    if (/^\/(proc|sys|dev)\//.test(real) || isHidden(real)) return unusable('leads to something hidden')
    const found = fstatSync(descriptor)
    if (found.isDirectory()) return { kind: 'folder' }
    if (!found.isFile()) return unusable('is not a file')
    if (found.size > mostBytes) return unusable(`is larger than ${mostBytes / 1_048_576} MiB`)
    return { kind: 'file', content: readFileSync(descriptor) }
  } finally {
    closeSync(descriptor)
  }
}

const unusable = (why: string) => ({ kind: 'unusable' as const, why })
