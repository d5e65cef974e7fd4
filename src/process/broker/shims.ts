/** Installs the shims of an attempt: one script under the name of every brokered program. */
import {
  accessSync,
  constants,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RepriseError } from '../../contract/errors.ts'
import { askedDir } from './asked-folder.ts'

const SHIM = fileURLToPath(new URL('shim.sh', import.meta.url))

export interface ShimFolders {
  /** Holds the shims. For the sandbox: read-only, first on PATH; its files are also mounted over the real programs. */
  bin: string
  /** Where the shims write their requests. For the sandbox: writable. */
  asked: string
}

/**
 * Installs the shims of exactly these programs. Can be repeated at any time, also while shims of an earlier installation are
 * waiting. `shared` has the same path inside and outside. Throws if shims could not work there.
 */
export function installShims(shared: string, programs: Iterable<string>): ShimFolders {
  const folders = { bin: join(shared, 'bin'), asked: askedDir(shared) }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = [...programs].map(checkedName)
  const shim = writeShim(shared, folders.asked)
  for (const name of names) linkShim(shim, join(folders.bin, name))
  for (const name of readdirSync(folders.bin)) if (!names.includes(name)) rmSync(join(folders.bin, name))
  return folders
}

/** One file serves all names, because a shim knows the name it was called by. It is replaced, not rewritten: a shell may be reading it. */
function writeShim(shared: string, asked: string): string {
  const path = join(shared, 'shim')
  const text = readFileSync(SHIM, 'utf8').replace('@ASKED@', () => `'${asked.replaceAll("'", "'\\''")}'`)
  if (readQuietly(path) !== text) {
    writeFileSync(`${path}.new`, text, { mode: 0o700 })
    renameSync(`${path}.new`, path)
  }
  try {
    accessSync(path, constants.X_OK)
  } catch (cause) {
    throw new RepriseError('home-unusable', `no program can be executed in ${shared}`, {
      hint: 'Set REPRISE_HOME to another directory.',
      cause,
    })
  }
  return path
}

/** Hard links: a caller that resolves symbolic links first would lose the name. */
export function linkShim(shim: string, path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === statSync(shim).ino) return
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  linkSync(shim, draft)
  renameSync(draft, path)
}

function checkedName(program: string): string {
  if (/^\w[\w.+-]*$/.test(program)) return program
  throw new RepriseError('config-invalid', `"${program}" is not a valid program name`)
}

function readQuietly(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
