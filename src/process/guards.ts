/** Puts the guards of policed programs first on an agent's PATH. guard.sh describes what a guard does. */
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
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RepriseError } from '../contract/errors.ts'
import { askedDir } from './guard-request.ts'

const GUARD = fileURLToPath(new URL('guard.sh', import.meta.url))

export interface GuardsInput {
  /** A directory that only the guards use. GuardDesk reads their questions from it. */
  dir: string
  /** Names by which the programs are called, such as `docker`. */
  programs: readonly string[]
}

/**
 * Installs the guards of exactly these programs and returns the directory to put on PATH. It can be repeated at any
 * time, also while guards of an earlier installation are waiting. Throws if the guards could not work there: an agent
 * must not run without them.
 */
export function installGuards({ dir, programs }: GuardsInput): string {
  const bin = join(dir, 'bin')
  if (bin.includes(delimiter)) throw unusable(dir, `PATH takes no directory with a "${delimiter}" in it`)
  for (const folder of [bin, askedDir(dir)]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const guard = writeGuard(dir)
  for (const program of programs) linkGuard(guard, join(bin, checkedName(program)))
  for (const name of readdirSync(bin)) if (!programs.includes(name)) rmSync(join(bin, name))
  return bin
}

/** Returns the environment with the guards' directory first on PATH, and nowhere else on it. */
export function withGuards(env: Readonly<Record<string, string>>, bin: string): Record<string, string> {
  const others = (env.PATH ?? DEFAULT_PATH).split(delimiter).filter((path) => path !== bin)
  return { ...env, PATH: [bin, ...others].join(delimiter) }
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

/**
 * One file serves all names, because a guard knows the name it was called by. It is replaced, not rewritten: a shell
 * may be reading it.
 */
function writeGuard(dir: string): string {
  const path = join(dir, 'guard')
  const text = readFileSync(GUARD, 'utf8').replace('@DIR@', () => `'${dir.replaceAll("'", "'\\''")}'`)
  if (readQuietly(path) !== text) {
    writeFileSync(`${path}.new`, text, { mode: 0o700 })
    renameSync(`${path}.new`, path)
  }
  try {
    accessSync(path, constants.X_OK)
  } catch (cause) {
    throw unusable(dir, 'no program can be executed there', cause)
  }
  return path
}

/** Hard links: a caller that resolves symlinks first would lose the name. */
function linkGuard(guard: string, path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === statSync(guard).ino) return
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  linkSync(guard, draft)
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

const unusable = (dir: string, why: string, cause?: unknown) =>
  new RepriseError('home-unusable', `guards cannot be installed in ${dir}: ${why}`, {
    hint: 'Set REPRISE_HOME to another directory.',
    cause,
  })
