/** The broker of this machine, as the engine uses it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { findRepository } from '../git/repository.ts'
import type { Git } from '../git/run.ts'
import { realPath } from '../real-path.ts'
import { isExecutable } from '../sandbox/machine.ts'
import { installGitShim } from './git-shim.ts'
import { type Remotes, readRemotes } from './remotes.ts'
import { installShims, type ShimFolders } from './shims.ts'

export interface BrokerHost {
  /** The absolute path of each program that is installed here. */
  programs: ReadonlyMap<string, string>
  /** The environment in which a program runs. */
  envOf: (program: string) => Readonly<Record<string, string>>
  /** Installs the shims in a folder, and says over which files the sandbox must show them. */
  install: (shared: string) => { folders: ShimFolders; replaced: { path: string; source: string }[] }
  /** Keeps the addresses to which the repository of the work directory pushes, unless the session has them already. */
  fixRemotes: (sessionDir: string, workDir: string) => Promise<void>
  readRemotes: (sessionDir: string) => Remotes | null
}

export interface BrokerHostInput {
  names: readonly string[]
  /** Where programs are looked for, as in the variable PATH. */
  path: string
  envOf: BrokerHost['envOf']
  git: Git
}

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const REMOTES = 'remotes.json'

export function openBrokerHost({ names, path, envOf, git }: BrokerHostInput): BrokerHost {
  const dirs = [...new Set([...path.split(delimiter).filter((dir) => dir.startsWith('/')), ...SYSTEM_PATH])]
  const found = names.map((name) => ({
    name,
    paths: dirs.map((dir) => join(dir, name)).filter(isExecutable),
  }))
  const programs = new Map(found.flatMap(({ name, paths: [first] }) => (first ? [[name, first]] : [])))
  return {
    programs,
    envOf,
    install: (shared) => {
      const folders = installShims(
        shared,
        [...programs.keys()].filter((name) => name !== 'git'),
      )
      const replaced = found.flatMap(({ name, paths }) =>
        // A link to a file of another name may be shared by several programs, so it is left alone.
        [...new Set(paths.map((path) => realPath(path)))]
          .filter((path) => basename(path) === name)
          .map((path) => ({ path, source: join(folders.bin, name) })),
      )
      const realGit = programs.get('git')
      if (realGit === undefined) return { folders, replaced }
      const { real } = installGitShim(shared)
      return { folders, replaced: [...replaced, { path: real, source: realGit }] }
    },
    fixRemotes: async (sessionDir, workDir) => {
      const file = join(sessionDir, REMOTES)
      if (existsSync(file)) return
      const repository = findRepository(workDir)
      // What could not be read now may be read before the next attempt.
      const remotes = repository && (await readRemotes(git, repository).catch(() => undefined))
      if (remotes === undefined) return
      mkdirSync(sessionDir, { recursive: true, mode: 0o700 })
      // Complete or not there, also if the daemon is killed meanwhile.
      writeFileSync(`${file}.new`, JSON.stringify(remotes), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    },
    readRemotes: (sessionDir) => {
      const file = join(sessionDir, REMOTES)
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Remotes | null) : null
    },
  }
}
