/**
 * Keeps an agent from exchanging the settings of a repository that it may write. They are in `.git/config`, which is read-only in a sandbox,
 * unless a file `.git/commondir` names another folder. So that file is created, if it is missing, with the content that changes nothing,
 * and is read-only too.
 */
import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const COMMON_DIR = 'commondir'
const HERE = '.\n'

/** Returns the file that was created, if any. */
export function fixCommonDir(workDir: string): string[] {
  const gitDir = join(workDir, '.git')
  if (!lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory()) return []
  const path = join(gitDir, COMMON_DIR)
  try {
    writeFileSync(path, HERE, { flag: 'wx' })
    return [path]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return []
    throw error
  }
}
