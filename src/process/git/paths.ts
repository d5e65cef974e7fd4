/**
 * Paths as git stores them: bytes, relative to the top of the work tree, separated by `/`. They are held as strings
 * with one character per byte, so that names that are not valid UTF-8 are preserved. They are decoded only for display.
 */
import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { GitError } from './error.ts'

export type RawPath = string

export const forPeople = (path: RawPath): string => Buffer.from(path, 'latin1').toString('utf8')

/** The path in the form that `node:fs` accepts. */
export const onDisk = (top: string, path: RawPath): Buffer =>
  Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')])

/** Splits output of git commands with -z. */
export function splitNul(bytes: Buffer): RawPath[] {
  const fields = bytes.toString('latin1').split('\0')
  if (fields.at(-1) === '') fields.pop()
  return fields
}

/** Builds input for git commands with -z. */
export const joinNul = (fields: Iterable<string>): Buffer =>
  Buffer.from([...fields].map((field) => `${field}\0`).join(''), 'latin1')

/** The parent folders of the path, topmost first. */
export function ancestors(path: RawPath): RawPath[] {
  const found: RawPath[] = []
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at))
  return found
}

export async function look(top: string, path: RawPath): Promise<Stats | null> {
  return lstat(onDisk(top, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    const name = JSON.stringify(forPeople(path))
    throw new GitError('unreadable', `could not inspect ${name}: ${error.message}`, { cause: error })
  })
}

/** Whether there is a file or symlink at the path that is reached without following a symlink. */
export async function isFileWithin(top: string, path: RawPath): Promise<boolean> {
  for (const folder of ancestors(path)) if (!(await look(top, folder))?.isDirectory()) return false
  const stats = await look(top, path)
  return stats !== null && (stats.isFile() || stats.isSymbolicLink())
}
