import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../../src/process/git/run.ts'
import { findWorkTree } from '../../../src/process/git/work-tree.ts'
import { hermetic, Repository, temporaryDir } from './repository.ts'

const find = (repository: Repository, dir: string, extra: Record<string, string> = {}) =>
  findWorkTree(openGit({ env: { ...repository.env, ...extra } }), dir)

describe('a work tree is found', () => {
  it('from its top and from any folder in it, also through a name with spaces and newlines', async () => {
    const repository = Repository.committed()
    mkdirSync(repository.path('a b/c\nd\n'), { recursive: true })
    for (const dir of [repository.top, repository.path('a b'), repository.path('a b/c\nd\n')]) {
      expect(await find(repository, dir)).toMatchObject({
        kind: 'work-tree',
        workTree: { top: repository.top, gitDir: repository.path('.git'), objectFormat: 'sha1' },
      })
    }
  })

  it('that is linked: its git directory is elsewhere', async () => {
    const repository = Repository.committed()
    const linked = join(repository.home, 'linked')
    repository.git('worktree', 'add', '--quiet', linked)
    expect(await find(repository, linked)).toMatchObject({
      workTree: {
        top: linked,
        gitDir: repository.path('.git/worktrees/linked'),
        commonDir: repository.path('.git'),
      },
    })
  })

  it("whatever repository the caller's environment names", async () => {
    const repository = Repository.committed()
    const other = Repository.committed()
    const extra = { GIT_DIR: other.path('.git'), GIT_WORK_TREE: other.top, GIT_INDEX_FILE: '/nowhere' }
    expect(await find(repository, repository.top, extra)).toMatchObject({ workTree: { top: repository.top } })
  })
})

it.each(['a folder above', 'a folder elsewhere'])(
  'core.worktree of a repository does not make %s the work tree',
  async (where) => {
    const repository = Repository.committed()
    const outside = where === 'a folder above' ? join(repository.top, '..') : temporaryDir()
    writeFileSync(join(outside, 'private'), 'secret')
    repository.git('config', 'core.worktree', outside)
    const found = await find(repository, repository.top).catch((error: Error) => error.message)
    if (typeof found === 'string') expect(found).toContain('core.worktree')
    else expect(found).toEqual({ kind: 'no-repository' })
  },
)

describe('there is no work tree', () => {
  it('where there is no repository, or no directory', async () => {
    const dir = temporaryDir()
    const git = openGit({ env: hermetic(dir) })
    expect(await findWorkTree(git, dir)).toEqual({ kind: 'no-repository' })
    expect(await findWorkTree(git, join(dir, 'missing'))).toEqual({ kind: 'no-repository' })
  })

  it('in a bare repository, nor inside .git', async () => {
    const bare = Repository.create('--bare')
    expect(await find(bare, bare.top)).toEqual({ kind: 'no-repository' })
    const repository = Repository.committed()
    expect(await find(repository, repository.path('.git'))).toEqual({ kind: 'no-repository' })
    expect(await find(repository, repository.path('.git/refs'))).toEqual({ kind: 'no-repository' })
  })

  it('without git, and the error says so', async () => {
    const dir = temporaryDir()
    expect(await findWorkTree(openGit({ env: { PATH: dir } }), dir)).toEqual({ kind: 'git-missing' })
  })
})

it.skipIf(process.getuid?.() !== 0)(
  'the repository of another user is refused, with what to do',
  async () => {
    const repository = Repository.committed()
    chownSync(repository.top, 12_345, 12_345)
    chownSync(repository.path('.git'), 12_345, 12_345)
    await expect(find(repository, repository.top)).rejects.toMatchObject({
      name: 'GitError',
      kind: 'untrusted',
      message: expect.stringContaining('belongs to another user'),
      hint: expect.stringContaining('safe.directory'),
    })
  },
)

describe('git that misbehaves', () => {
  const stub = (script: string) => {
    const dir = temporaryDir()
    writeFileSync(join(dir, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return { env: hermetic(dir), program: join(dir, 'git') }
  }
  const call = { args: ['status'], what: 'could not look' }

  it('is ended when it takes too long, with all it started', async () => {
    const git = openGit({ ...stub('sleep 1000 & sleep 1000'), timeoutMs: 300 })
    await expect(git.run(call)).rejects.toMatchObject({
      kind: 'timed-out',
      message: 'could not look: git took more than 0.3 s and was ended',
    })
  })

  it('is ended when it prints too much', async () => {
    const git = openGit(stub('yes'))
    await expect(git.run({ ...call, maxBytes: 1000 })).rejects.toMatchObject({ kind: 'failed' })
    const { stdout, cut } = await git.run({ ...call, maxBytes: 1000, cut: true })
    expect([stdout.length, cut]).toEqual([1000, true])
  })

  it.each([
    ['error: unable to write file .git/objects/ab/cd: No space left on device', 'disk-full'],
    ['fatal: Unable to create temporary file: Read-only file system', 'read-only'],
    ['error: insufficient permission for adding an object to repository database .git/objects', 'read-only'],
    ['error: open("secret"): Permission denied\nerror: unable to index file "secret"', 'unreadable'],
    ['fatal: bad object 1234', 'missing-object'],
    ['fatal: something else', 'failed'],
  ])('says why: %s', async (stderr, kind) => {
    const git = openGit(stub(`cat >&2 <<'END'\n${stderr}\nEND\nexit 128`))
    await expect(git.run(call)).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(stderr.split('\n')[0] ?? ''),
    })
  })
})
