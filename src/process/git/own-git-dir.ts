/**
 * A git directory of our own for a repository, in which every git call of ours works. It shares objects and references with the
 * repository, as `git-new-workdir` does, but has a configuration of its own: a repository's configuration can name programs in an
 * open-ended list of keys (filters, hooks, fsmonitor, textconv, promisor remotes, …), and none of them is read here.
 *
 *   HEAD, config            our own
 *   refs, packed-refs       links to those of the repository
 *   sharedindex.*           links to those of the work tree: its index may consist of two files
 *   objects, index          named by the environment of each call
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SharedRepository {
  gitDir: string
  commonDir: string
  objectFormat: 'sha1' | 'sha256'
}

export class OwnGitDirs {
  readonly #base: string | null

  /** `base`: where they are kept. Without one they are temporary. */
  constructor(base: string | null) {
    this.#base = base
  }

  pathFor({ gitDir, commonDir, objectFormat }: SharedRepository): string {
    const dir = join(
      this.#base ?? temporaryBase(),
      createHash('sha256').update(`${gitDir}\0${commonDir}`).digest('hex').slice(0, 32),
    )
    if (!existsSync(join(dir, 'HEAD'))) {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      writeFileSync(join(dir, 'config'), ownConfig(objectFormat), { mode: 0o600 })
      link(join(commonDir, 'refs'), join(dir, 'refs'))
      link(join(commonDir, 'packed-refs'), join(dir, 'packed-refs'))
      // Last: with it, the directory is complete.
      writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n', { mode: 0o600 })
    }
    for (const name of readdirSync(gitDir))
      if (name.startsWith('sharedindex.')) link(join(gitDir, name), join(dir, name))
    return dir
  }
}

let temporary: string | null = null

/** One for this process, which is removed when it ends. */
function temporaryBase(): string {
  if (temporary !== null) return temporary
  const base = mkdtempSync(join(tmpdir(), 'reprise-own-git-'))
  process.once('exit', () => rmSync(base, { recursive: true, force: true }))
  temporary = base
  return base
}

/** Another call may have made it in the meantime. */
function link(target: string, path: string): void {
  try {
    symlinkSync(target, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The settings that a repository would have, and nothing that names a program. */
export const ownConfig = (objectFormat: SharedRepository['objectFormat']) =>
  [
    '[core]',
    'repositoryFormatVersion = 1',
    'bare = false',
    'fileMode = true',
    'symlinks = true',
    'ignoreCase = false',
    'trustCtime = true',
    'checkStat = default',
    'sparseCheckout = false',
    ...(objectFormat === 'sha256' ? ['[extensions]', 'objectFormat = sha256'] : []),
    '',
  ].join('\n')
