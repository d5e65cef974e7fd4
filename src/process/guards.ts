/** Puts the guards of policed programs first on an agent's PATH. See guard.sh for what a guard does. */
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
  /** Theirs alone. What is asked is found in there, see GuardDesk. */
  dir: string
  /** Names as they are called, such as `docker`. */
  programs: readonly string[]
}

/**
 * Makes the guards of exactly these programs and returns the directory to be put on PATH. Can be repeated at any time,
 * also while guards of an earlier time are waiting. Throws where they would not be asked: better no agent than one
 * without them.
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

/** The environment with the guards first on PATH, and there once. */
export function withGuards(env: Readonly<Record<string, string>>, bin: string): Record<string, string> {
  const others = (env.PATH ?? DEFAULT_PATH).split(delimiter).filter((path) => path !== bin)
  return { ...env, PATH: [bin, ...others].join(delimiter) }
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

/** One file for all names: a guard knows by what name it was called. Replaced, not rewritten: a shell may be reading it. */
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

/** Links, not symbolic ones: whoever resolves those before calling would take the name away. */
function linkGuard(guard: string, path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === statSync(guard).ino) return
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  linkSync(guard, draft)
  renameSync(draft, path)
}

function checkedName(program: string): string {
  if (/^\w[\w.+-]*$/.test(program)) return program
  throw new RepriseError('config-invalid', `"${program}" is no name of a program that could be guarded`)
}

function readQuietly(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

const unusable = (dir: string, why: string, cause?: unknown) =>
  new RepriseError('home-unusable', `Programs cannot be guarded from ${dir}: ${why}`, {
    hint: 'Set REPRISE_HOME to another directory.',
    cause,
  })
