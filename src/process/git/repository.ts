/**
 * Reads a repository that an agent may have written, without git: a repository's own settings can make git start programs. Only the
 * files of references are read, without following links, and their content must have the form of a reference or an object id.
 */
import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { examineUntrustedSync } from '../../files/untrusted.ts'

export interface Repository {
  /** The folder with `.git`: addresses of remotes are relative to it. */
  top: string
  /** The folder with HEAD, of this work tree. */
  gitDir: string
  /** The folder with objects and references, which several work trees may share. */
  commonDir: string
}

/** The repository whose work tree contains the folder. null: there is none. */
export function findRepository(dir: string): Repository | null {
  const path = join(dir, '.git')
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return { top: dir, gitDir: path, commonDir: commonDirOf(path) }
  if (found?.isFile()) {
    const target = /^gitdir: (.+)$/m.exec(readSmall(path) ?? '')?.[1]
    if (target === undefined) return null
    const gitDir = resolve(dir, target)
    return { top: dir, gitDir, commonDir: commonDirOf(gitDir) }
  }
  return dir === '/' ? null : findRepository(dirname(dir))
}

function commonDirOf(gitDir: string): string {
  const shared = readSmall(join(gitDir, 'commondir'))?.trim()
  return shared ? resolve(gitDir, shared) : gitDir
}

const OBJECT_ID = /^[\da-f]{40}(?:[\da-f]{24})?$/
export const isObjectId = (text: string) => OBJECT_ID.test(text)

/** The reference that HEAD names, such as refs/heads/main. null: none, because a commit is checked out. */
export function readHead({ gitDir }: Pick<Repository, 'gitDir'>): string | null {
  return /^ref: (refs\/\S+)$/m.exec(readSmall(join(gitDir, 'HEAD')) ?? '')?.[1] ?? null
}

/** The id of the object that a reference names. null: there is no such reference, or it is not understood. */
export function readRef(repository: Omit<Repository, 'top'>, name: string): string | null {
  if (name === 'HEAD') {
    const branch = readHead(repository)
    const direct = readSmall(join(repository.gitDir, 'HEAD'))?.trim() ?? ''
    if (branch !== null) return readRef(repository, branch)
    return isObjectId(direct) ? direct : null
  }
  if (!isRefName(name)) return null
  const loose = readSmall(join(repository.commonDir, name))?.trim()
  if (loose !== undefined && isObjectId(loose)) return loose
  return readPacked(repository).get(name) ?? null
}

/** The names of all references below this one, such as refs/heads. */
export function listRefs({ commonDir }: Pick<Repository, 'commonDir'>, below: string): string[] {
  const packed = [...readPacked({ commonDir }).keys()].filter((name) => name.startsWith(`${below}/`))
  return [...new Set([...listLoose(commonDir, below), ...packed])].toSorted()
}

function listLoose(commonDir: string, below: string): string[] {
  try {
    return readdirSync(join(commonDir, below), { withFileTypes: true }).flatMap((entry) => {
      const name = `${below}/${entry.name}`
      if (entry.isDirectory()) return listLoose(commonDir, name)
      return entry.isFile() && isRefName(name) ? [name] : []
    })
  } catch {
    return []
  }
}

/** As strict as git's own rules: no name leads out of the folder. */
export const isRefName = (name: string) =>
  /^refs(\/[^\s/.~^:?*[\\][^\s/~^:?*[\\]*)+$/.test(name) && !/\.\.|@\{|\.lock(\/|$)|\/\.|\.$/.test(name)

function readPacked({ commonDir }: Pick<Repository, 'commonDir'>): Map<string, string> {
  const lines = (readSmall(join(commonDir, 'packed-refs'), MAX_PACKED_BYTES) ?? '').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const [id = '', name = ''] = line.split(' ')
      return isObjectId(id) && isRefName(name) ? [[name, id]] : []
    }),
  )
}

const MAX_REF_BYTES = 64 << 10
const MAX_PACKED_BYTES = 64 << 20

/** undefined: it is not there, not a file, or too large. */
function readSmall(path: string, maxBytes = MAX_REF_BYTES): string | undefined {
  const read = examineUntrustedSync(path, { maxBytes })
  return read.kind === 'file' ? read.bytes.toString('utf8') : undefined
}

/** git itself follows no more. */
const MOST_LENDERS = 5

/**
 * Folders from which git reads objects when it reads this repository: its own, and those that it borrows from, which may borrow
 * as well. null: it cannot be told, because a list of them is a link, or there are too many.
 */
export function listObjectFolders({ commonDir }: Pick<Repository, 'commonDir'>): string[] | null {
  const found = [join(commonDir, 'objects')]
  for (const objects of found) {
    const list = join(objects, 'info', 'alternates')
    const text = readSmall(list)
    if (text === undefined && lstatSync(list, { throwIfNoEntry: false })) return null
    const lenders = (text ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    for (const lender of lenders.map((line) => resolve(objects, line)))
      if (!found.includes(lender)) found.push(lender)
    if (found.length > MOST_LENDERS) return null
  }
  return found.flatMap((objects) => [objects, join(objects, 'pack')])
}
