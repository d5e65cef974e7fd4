/** Real repositories, made by plain git, without any other configuration. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openGit } from '../../../src/process/git/run.ts'
import { findWorkTree, type WorkTree } from '../../../src/process/git/work-tree.ts'

/** Removed when the test is over. */
export function temporaryDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-test-git-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export function hermetic(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
  }
}

export class Repository {
  readonly home: string
  readonly top: string
  readonly env: Record<string, string>

  constructor(home = temporaryDir(), top = join(home, 'work')) {
    this.home = home
    this.top = top
    this.env = hermetic(home)
  }

  static create(...options: string[]): Repository {
    const repository = new Repository()
    writeFileSync(
      join(repository.home, '.gitconfig'),
      '[user]\nname = Somebody\nemail = s@example.org\n[protocol "file"]\nallow = always\n',
    )
    mkdirSync(repository.top)
    repository.git('init', '--quiet', '--initial-branch=main', ...options)
    return repository
  }

  /** With one commit of `file`. */
  static committed(...options: string[]): Repository {
    const repository = Repository.create(...options)
    repository.write('file', 'one\n').commit('first')
    return repository
  }

  /** On `main`, with a branch `other` that conflicts with it. */
  static conflicting(): Repository {
    const repository = Repository.committed()
    repository.git('checkout', '--quiet', '-b', 'other')
    repository.write('file', 'theirs\n').commit('theirs')
    repository.git('checkout', '--quiet', 'main')
    repository.write('file', 'ours\n').commit('ours')
    return repository
  }

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.top,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** For commands that are expected to end in a conflict. */
  tryGit(...args: string[]): void {
    try {
      this.git(...args)
    } catch {}
  }

  path(name: string): string {
    return join(this.top, name)
  }

  write(name: string, content: string | Buffer, mode?: number): this {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), content)
    if (mode !== undefined) chmodSync(this.path(name), mode)
    return this
  }

  link(name: string, target: string): this {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    symlinkSync(target, this.path(name))
    return this
  }

  remove(name: string): this {
    rmSync(this.path(name), { recursive: true, force: true })
    return this
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  commit(message: string): string {
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '--message', message)
    return this.git('rev-parse', 'HEAD').trim()
  }

  async workTree(program?: string): Promise<WorkTree> {
    const git = openGit({
      env: this.env,
      ownDirs: join(this.home, 'own-git'),
      ...(program ? { program } : {}),
    })
    const found = await findWorkTree(git, this.top)
    if (found.kind !== 'work-tree') throw new Error(`no work tree in ${this.top}: ${found.kind}`)
    return found.workTree
  }

  /** The names in a tree, with `<mode> <name>` for what is not a plain file. */
  names(tree: string): string[] {
    const lines = this.git('ls-tree', '-r', '-z', tree).split('\0').filter(Boolean)
    return lines.map((line) => {
      const [meta = '', name = ''] = line.split('\t')
      const mode = meta.slice(0, 6)
      return mode === '100644' ? name : `${mode} ${name}`
    })
  }

  content(tree: string, name: string): string {
    return this.git('cat-file', 'blob', `${tree}:${name}`)
  }

  /** What Reprise must never change: HEAD, where it points, all refs but its own, and the index, byte for byte. */
  untouchable(): unknown {
    const gitDir = this.git('rev-parse', '--absolute-git-dir').trim()
    const refs = this.git('for-each-ref', '--format=%(refname) %(objectname)')
    let index: string | null = null
    try {
      index = readFileSync(join(gitDir, 'index'), 'latin1')
    } catch {}
    return {
      head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
      index,
      refs: refs.split('\n').filter((line) => !line.startsWith('refs/reprise/')),
      stash: this.git('stash', 'list'),
    }
  }
}
