/** What the plan of a sandbox needs to know about the files of the host. Tests of the plan replace it. */
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { realPath } from '../real-path.ts'

export type FileKind = 'dir' | 'file' | 'link' | 'none'

export interface DirEntry {
  name: string
  kind: 'dir' | 'file' | 'link'
  /** Of a link. */
  target: string
}

export interface HostFiles {
  /** With all symbolic links resolved, as far as the path exists. */
  realPath: (path: string) => string
  /** `file` is everything that is neither a folder nor a symbolic link. */
  kindOf: (path: string) => FileKind
  /** null: the folder cannot be listed. */
  entriesOf: (dir: string) => DirEntry[] | null
  /** Whether the file has other names (hard links). */
  hasOtherNames: (path: string) => boolean
}

export const hostFiles: HostFiles = {
  realPath,
  kindOf: (path) => kindOf(stat(path)),
  entriesOf: (dir) => {
    try {
      return readdirSync(dir).flatMap((name) => {
        const path = join(dir, name)
        const kind = kindOf(stat(path))
        return kind === 'none' ? [] : [{ name, kind, target: kind === 'link' ? readlinkSync(path) : '' }]
      })
    } catch {
      return null
    }
  },
  hasOtherNames: (path) => {
    const found = stat(path)
    return found !== undefined && !found.isDirectory() && found.nlink > 1
  },
}

function stat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A path below a file, or in a folder that may not be searched: for us it does not exist.
    return undefined
  }
}

function kindOf(found: Stats | undefined): FileKind {
  if (!found) return 'none'
  if (found.isSymbolicLink()) return 'link'
  return found.isDirectory() ? 'dir' : 'file'
}
