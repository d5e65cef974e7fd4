/** Lists the files of a session with their sizes. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionFiles } from '../../agents/session-files.ts'

const MAX_FILES = 1000

/** Regular files only, the transcript first. Files that disappear meanwhile are left out. */
export async function listFiles({
  transcript,
  folder,
}: SessionFiles): Promise<{ path: string; bytes: number }[]> {
  const entries = folder
    ? await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    : []
  const inFolder = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const paths = [transcript, ...inFolder.sort().slice(0, MAX_FILES)]
  const sized = paths.map((path) =>
    stat(path).then(
      ({ size }) => [{ path, bytes: size }],
      () => [],
    ),
  )
  return (await Promise.all(sized)).flat()
}
