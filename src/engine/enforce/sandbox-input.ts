/**
 * What an attempt can write, see and reach: the input of its sandbox, from its tier (or from the rule for runs without one), the
 * agent's own files and what is hidden from every agent.
 */
import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Env } from '../../agents/adapter.ts'
import type { Enclosure } from '../../agents/enclosure.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import { realPath } from '../../process/real-path.ts'
import type { SandboxInput } from '../../process/sandbox/sandbox.ts'
import { COMMON_DIR } from './git-dir.ts'
import { findProtected } from './protected-files.ts'

export interface SandboxFacts {
  workDir: string
  /** null: a run without a tier, which may write its work directory. */
  rules: Pick<Tier, 'files' | 'network'> | null
  enclosure: Enclosure
  env: Env
  /** The folder of the session: what is seen as /tmp and the like. It lasts as long as the session. */
  sessionDir: string
  /** A folder of the attempt for mount points. */
  scratch: string
  /** The folder of the agent's program. */
  programDir: string
  /** Folders and files of Reprise itself, which no agent sees. */
  own: { hidden: readonly string[]; visible: readonly string[]; writable: readonly string[] }
  protectedPatterns: readonly string[]
  /** Hidden from every agent; `~` is the home directory. */
  hidden: readonly string[]
  replaced: readonly { path: string; source: string }[]
}

export interface PlannedInput {
  input: SandboxInput
  warnings: string[]
}

export function sandboxInputOf(facts: SandboxFacts): PlannedInput {
  const { workDir, rules, enclosure, env, sessionDir } = facts
  const home = env.HOME || homedir()
  const at = (path: string) => resolve(workDir, path.replace(/^~(?=\/|$)/, home))
  const writable = (rules?.files.write ?? ['.']).map(at)
  for (const path of writable) refuseWholeHome(path, home)
  const found = writable
    .filter(isFolder)
    .map((path) => findProtected(realPath(path), facts.protectedPatterns, home))
  const isWritable = writable.some((path) => isWithin(realPath(workDir), realPath(path)))
  const entries = isWritable ? [...enclosure.workDirEntries, ...gitFolders(workDir)] : []
  const hidden = [
    ...facts.hidden.map(at),
    '/run/',
    ...(rules?.files.hidden ?? []).map(at),
    ...facts.own.hidden,
  ]
  return {
    input: {
      workDir,
      writable: [...writable, ...facts.own.writable],
      readOnly: [
        ...found.flatMap(({ paths }) => paths),
        ...entries.map((name) => `${join(workDir, name)}/`),
        ...(isWritable ? gitFiles(workDir) : []),
        ...enclosure.readOnly,
        ...facts.own.visible,
        ...nameServices(),
        facts.programDir,
      ].filter(unlessAmong(writable)),
      hidden: hidden.filter(isAbsolute),
      tmp: join(sessionDir, 'tmp'),
      privateDirs: [
        ...PRIVATE.map((name) => ({
          path: join(home, name),
          source: join(sessionDir, name.replaceAll('/', '-')),
        })),
        ...enclosure.privateDirs,
      ],
      replaced: facts.replaced,
      network: rules?.network ?? 'open',
      scratch: facts.scratch,
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
    },
    warnings: found.every(({ complete }) => complete)
      ? []
      : ['The work directory has too many files to look for all protected ones.'],
  }
}

/** Folders of the home directory that many programs write to. Inside, the session has its own. */
const PRIVATE = ['.cache', '.npm']

export const sessionFolders = ['tmp', ...PRIVATE.map((name) => name.replaceAll('/', '-'))]

/** Variables that lead to sockets which are hidden inside. */
const WITHOUT = ['SSH_AUTH_SOCK', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'TMPDIR']

export const environmentInside = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !WITHOUT.includes(name)))

/** In it are the files that decide what the user's next shell, login or program does. */
function refuseWholeHome(path: string, home: string): void {
  const real = realPath(path)
  if (real !== realPath(home) && !realPath(home).startsWith(`${real === '/' ? '' : real}/`)) return
  throw new RepriseError(
    'bad-request',
    `${path} contains your home directory, so it cannot be writable in a sandbox`,
    {
      hint: 'Use a work directory inside of it.',
    },
  )
}

const isWithin = (path: string, dir: string) => path === dir || path.startsWith(dir === '/' ? '/' : `${dir}/`)

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** They decide where the settings of the repository are. In a linked work tree, `.git` is a file. */
const gitFiles = (workDir: string) =>
  [join(workDir, '.git', COMMON_DIR), join(workDir, '.git')].filter(isFile)

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** git starts programs that are named in these folders. */
const gitFolders = (workDir: string) =>
  isFolder(join(workDir, '.git')) ? ['.git/hooks', '.git/info', '.git/modules'] : []

/** /run is hidden; the file with the addresses of name servers is often there. */
function nameServices(): string[] {
  const dir = dirname(realPath('/etc/resolv.conf'))
  return dir.startsWith('/run/') && existsSync(dir) ? [dir] : []
}

const unlessAmong = (others: readonly string[]) => (path: string) => !others.includes(path)
