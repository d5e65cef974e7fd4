/** Work directories: their real path, their identity, and whether they can be used. */
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'

/** Checks the directory and returns its real path. */
export async function checkWorkDir(path: string): Promise<string> {
  if (!isAbsolute(path)) {
    throw new RepriseError(
      'work-dir-unusable',
      `workDir: expected an absolute path, got ${JSON.stringify(path)}`,
    )
  }
  const real = await realWorkDir(path)
  const usable =
    (await stat(real)).isDirectory() &&
    (await access(real, constants.R_OK | constants.X_OK).then(
      () => true,
      () => false,
    ))
  if (!usable) {
    throw new RepriseError(
      'work-dir-unusable',
      `${path} is not a directory that this user may read and enter`,
      {
        hint: 'Give an existing directory.',
      },
    )
  }
  return real
}

/** The identity of a directory in its file system, which survives a rename; see core/resume/place.ts. */
export async function identifyDir(path: string): Promise<string | null> {
  return stat(path).then(
    ({ dev, ino, birthtimeMs }) => `${dev}:${ino}:${birthtimeMs}`,
    () => null,
  )
}

export async function realWorkDir(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    throw new RepriseError(
      'work-dir-unusable',
      `the work directory ${path} cannot be used: ${(cause as Error).message}`,
      {
        hint: 'Give an existing directory that this user may read and enter.',
        cause,
      },
    )
  }
}
