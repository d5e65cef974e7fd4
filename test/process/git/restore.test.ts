/** Restores to a checkpoint: only files change, and the state before can be restored again. */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import { type Checkpoint, commitCheckpoint, listCheckpoints } from '../../../src/process/git/checkpoints.ts'
import { type Restored, restore } from '../../../src/process/git/restore.ts'
import { Repository } from './repository.ts'

const JOB = 'job_1'

async function checkpoint(repository: Repository): Promise<Checkpoint> {
  const workTree = await repository.workTree()
  return commitCheckpoint(workTree, { jobId: JOB, tree: await captureTree(workTree), message: 'checkpoint' })
}

/** Checks that nothing but the files has changed. */
async function restoreTo(repository: Repository, { commit }: { commit: string }): Promise<Restored> {
  const before = repository.untouchable()
  const result = await restore(await repository.workTree(), {
    commit,
    saveAs: { jobId: JOB, message: 'before a restore' },
  })
  expect(repository.untouchable()).toEqual(before)
  return result
}

describe('a restore', () => {
  it('brings back changed and deleted files, removes new ones, and saves everything first', async () => {
    const repository = Repository.committed()
    repository.write('dir/deep/a', 'a').write('tracked', 't').commit('second')
    repository.write('untracked', 'u').write('file', 'uncommitted\n')
    const then = await checkpoint(repository)
    repository.write('file', 'spoilt\n').write('new/x', 'x').remove('dir').remove('untracked')
    const { saved, written, removed } = await restoreTo(repository, then)
    expect([written, removed]).toEqual([3, 1])
    expect(repository.read('file')).toBe('uncommitted\n')
    expect(repository.read('dir/deep/a')).toBe('a')
    expect(repository.read('untracked')).toBe('u')
    expect(existsSync(repository.path('new'))).toBe(false)
    expect(await captureTree(await repository.workTree())).toBe(then.tree)
    expect(repository.content(saved?.commit ?? '', 'file')).toBe('spoilt\n')
    expect(repository.content(saved?.commit ?? '', 'new/x')).toBe('x')

    await restoreTo(repository, saved as Checkpoint)
    expect(repository.read('file')).toBe('spoilt\n')
    expect(existsSync(repository.path('dir'))).toBe(false)
  })

  it('does and saves nothing if nothing has changed', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository)
    expect(await restoreTo(repository, then)).toEqual({ saved: null, written: 0, removed: 0 })
    expect(await listCheckpoints(await repository.workTree(), JOB)).toHaveLength(1)
  })

  it('leaves no folder of its own behind', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository)
    repository.write('.git/reprise/draft-999999999-dead/file', 'of a process that died')
    await restoreTo(repository.write('file', '2'), then)
    expect(readdirSync(repository.path('.git/reprise')).filter((name) => name.startsWith('draft'))).toEqual(
      [],
    )
    expect(readdirSync(repository.top).sort()).toEqual(['.git', 'file'])
  })

  it('restores executable bits and symlinks, and keeps other permissions', async () => {
    const repository = Repository.committed()
    repository
      .write('run', '#!', 0o755)
      .link('link', 'one')
      .write('secret', '1', 0o600)
      .write('private', '1', 0o700)
    const then = await checkpoint(repository)
    chmodSync(repository.path('run'), 0o644)
    repository.remove('link').link('link', 'two').write('secret', '2').write('private', '2', 0o600)
    await restoreTo(repository, then)
    expect(statSync(repository.path('run')).mode & 0o777).toBe(0o755)
    expect(statSync(repository.path('secret')).mode & 0o777).toBe(0o600)
    expect(statSync(repository.path('private')).mode & 0o777).toBe(0o700)
    expect(readlinkSync(repository.path('link'))).toBe('one')
  })

  it.each<[string, (r: Repository) => void, (r: Repository) => void]>([
    ['file → folder', (r) => r.write('x', '1'), (r) => r.remove('x').write('x/y/z', '2')],
    ['folder → file', (r) => r.write('x/y/z', '1'), (r) => r.remove('x').write('x', '2')],
    ['file → symlink', (r) => r.write('x', '1'), (r) => r.remove('x').link('x', 'file')],
    ['symlink → folder', (r) => r.link('x', 'file'), (r) => r.remove('x').write('x/y', '2')],
    ['folder → symlink', (r) => r.write('x/y', '1'), (r) => r.remove('x').link('x', '.')],
    [
      'folder → symlink to a folder',
      (r) => r.write('x/y', '1').write('z/y', '2'),
      (r) => r.remove('x').link('x', 'z'),
    ],
  ])('undoes %s', async (_, first, second) => {
    const repository = Repository.committed()
    first(repository)
    const then = await checkpoint(repository)
    second(repository)
    const now = await captureTree(await repository.workTree())
    const { saved } = await restoreTo(repository, then)
    expect(saved?.tree).toBe(now)
    expect(await captureTree(await repository.workTree())).toBe(then.tree)
    await restoreTo(repository, saved as Checkpoint)
    expect(await captureTree(await repository.workTree())).toBe(now)
  })

  it('removes folders that were emptied, and replaces a folder of empty folders by a file', async () => {
    const repository = Repository.committed()
    repository.write('x', '1')
    const then = await checkpoint(repository)
    repository.remove('x').write('x/y', '').write('keep/me/new', '')
    mkdirSync(repository.path('x/empty/er'), { recursive: true })
    mkdirSync(repository.path('keep/empty'))
    await restoreTo(repository, then)
    expect(repository.read('x')).toBe('1')
    expect(readdirSync(repository.path('keep'))).toEqual(['empty'])
  })

  it('never writes through a symlink that has replaced a folder', async () => {
    const repository = Repository.committed()
    repository.write('dir/a', 'mine')
    const then = await checkpoint(repository)
    const outside = join(repository.home, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'a'), 'theirs')
    repository.remove('dir').link('dir', outside)
    await restoreTo(repository, then)
    expect(lstatSync(repository.path('dir')).isDirectory()).toBe(true)
    expect(repository.read('dir/a')).toBe('mine')
    expect(execFileSync('cat', [join(outside, 'a')], { encoding: 'utf8' })).toBe('theirs')
  })

  it('writes the bytes that were there, whatever conversions are configured', async () => {
    const repository = Repository.create()
    repository.git('config', 'filter.broken.smudge', 'false')
    repository.git('config', 'filter.broken.required', 'true')
    repository.git('config', 'filter.broken.clean', 'cat')
    repository.write('.gitattributes', '*.txt text eol=crlf\n*.f filter=broken\n')
    repository.write('a.txt', 'x\ny\r\n').write('b.f', 'b').commit('first')
    const then = await checkpoint(repository)
    repository.write('a.txt', 'spoilt').write('b.f', 'spoilt').remove('.gitattributes')
    await restoreTo(repository, then)
    expect([repository.read('a.txt'), repository.read('b.f')]).toEqual(['x\ny\r\n', 'b'])
  })

  it('works in a linked work tree, and with a HEAD that has moved or was unborn', async () => {
    const main = Repository.committed()
    main.git('worktree', 'add', '--quiet', join(main.home, 'linked'))
    const linked = new Repository(main.home, join(main.home, 'linked'))
    const then = await checkpoint(linked.write('file', 'then\n'))
    linked.commit('onwards')
    await restoreTo(linked.write('file', 'now\n'), then)
    expect(linked.read('file')).toBe('then\n')
    expect(main.read('file')).toBe('one\n')

    const unborn = Repository.create()
    const early = await checkpoint(unborn.write('a', '1'))
    expect(early.head).toBe(null)
    unborn.write('a', '2').commit('first')
    await restoreTo(unborn, early)
    expect(unborn.read('a')).toBe('1')
  })
})

describe('ignored files', () => {
  it('elsewhere are kept', async () => {
    const repository = Repository.committed()
    repository.write('.gitignore', 'build/\n').write('build/out', 'o')
    const then = await checkpoint(repository)
    repository.write('file', '2').write('build/more', 'm')
    await restoreTo(repository, then)
    expect(readdirSync(repository.path('build')).sort()).toEqual(['more', 'out'])
  })

  it('that are overwritten are saved first', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository.write('notes.log', 'then'))
    repository.write('.gitignore', '*.log\n').write('notes.log', 'precious')
    const { saved } = await restoreTo(repository, then)
    expect(repository.read('notes.log')).toBe('then')
    expect(repository.content(saved?.commit ?? '', 'notes.log')).toBe('precious')
  })

  it('in a folder where a file must go, or a file where a folder must go, are saved and removed', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository.write('x', 'file').write('y/z', 'deep'))
    repository.remove('x').remove('y').write('.gitignore', '*.log\n/y\n')
    repository.write('x/a/b.log', 'one').write('x/c', 'two').write('y', 'three')
    const { saved } = await restoreTo(repository, then)
    expect([repository.read('x'), repository.read('y/z')]).toEqual(['file', 'deep'])
    const contents = ['x/a/b.log', 'x/c', 'y'].map((name) => repository.content(saved?.commit ?? '', name))
    expect(contents).toEqual(['one', 'two', 'three'])
  })

  it("are kept also when only the checkpoint's rules ignore them, because it does not know them", async () => {
    const repository = Repository.committed()
    repository
      .write('.gitignore', 'cache/\n')
      .write('cache/big', 'b')
      .write('sub/.gitignore', '*.o\n')
      .write('sub/x.o', 'o')
    const then = await checkpoint(repository)
    repository.remove('.gitignore').remove('sub/.gitignore').write('new', 'n')
    const { saved } = await restoreTo(repository, then)
    expect([repository.read('cache/big'), repository.read('sub/x.o')]).toEqual(['b', 'o'])
    expect(existsSync(repository.path('new'))).toBe(false)
    expect(repository.content(saved?.commit ?? '', 'cache/big')).toBe('b')
  })
})

describe('a restore refuses', () => {
  it('while a merge is in progress that was not in progress at the checkpoint', async () => {
    const repository = Repository.conflicting()
    const then = await checkpoint(repository)
    repository.tryGit('merge', 'other')
    const conflict = repository.read('file')
    await expect(restoreTo(repository, then)).rejects.toMatchObject({
      kind: 'unfinished',
      message: expect.stringContaining('a merge is in progress'),
      hint: expect.stringContaining('git merge --abort'),
    })
    expect(repository.read('file')).toBe(conflict)

    const amid = await checkpoint(repository)
    expect(amid.unfinished).toBe('merge')
    repository.write('file', 'half resolved\n')
    await restoreTo(repository, amid)
    expect(repository.read('file')).toBe(conflict)
  })

  it('to delete a repository inside the work tree, and leaves it alone where it can', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository.write('x', 'file').write('y', '1'))
    repository.remove('x')
    mkdirSync(repository.path('x'))
    const inner = new Repository(repository.home, repository.path('x'))
    inner.git('init', '--quiet')
    inner.write('precious', 'p')
    for (const prepare of [
      () => {},
      () => inner.commit('inner'),
      () => repository.write('.gitignore', 'x\n'),
    ]) {
      prepare()
      repository.write('y', '2')
      await expect(restoreTo(repository, then)).rejects.toMatchObject({
        kind: 'in-the-way',
        message: expect.stringContaining('"x"'),
      })
      expect([inner.read('precious'), repository.read('y')]).toEqual(['p', '2'])
    }
    const elsewhere = await checkpoint(repository.remove('.gitignore'))
    inner.write('precious', 'q').commit('inner, again')
    await restoreTo(repository.write('y', '3'), elsewhere)
    expect([inner.read('precious'), repository.read('y')]).toEqual(['q', '2'])
    // The checkpoint had no such repository, but it is left alone.
    await restoreTo(repository.remove('x'), then)
    await restoreTo(repository, elsewhere)
  })

  it('when the checkpoint, or a file of it, is missing; before anything is changed', async () => {
    const repository = Repository.committed()
    const then = await checkpoint(repository.write('a', 'unique content').write('b', 'b'))
    const oid = repository.git('rev-parse', `${then.commit}:a`).trim()
    repository.write('a', '2').write('b', '2')
    repository.remove(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`)
    await expect(restoreTo(repository, then)).rejects.toMatchObject({ kind: 'missing-object' })
    expect([repository.read('a'), repository.read('b')]).toEqual(['2', '2'])
    await expect(restoreTo(repository, { commit: '1'.repeat(40) })).rejects.toMatchObject({
      kind: 'missing-object',
    })
    await expect(restoreTo(repository, { commit: '--output=x' })).rejects.toMatchObject({ kind: 'failed' })
  })
})

describe('a restore that was killed in the middle', () => {
  it('can be run again, and every intermediate state is saved', async () => {
    const repository = Repository.committed()
    for (let i = 0; i < 300; i++) repository.write(`d${i % 7}/f${i}`, `then ${i}`)
    const then = await checkpoint(repository)
    for (let i = 0; i < 300; i++) repository.write(`d${i % 7}/f${i}`, `now ${i}`)
    repository.remove('d0').write('d0', 'a file').write('new/x', 'x')
    const now = await captureTree(await repository.workTree())
    const before = repository.untouchable()

    const script = fileURLToPath(new URL('restoring.ts', import.meta.url))
    const child = spawn(process.execPath, [script, repository.home, then.commit], { stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    while (repository.read('d1/f1') === 'now 1') await new Promise(setImmediate)
    child.kill('SIGKILL')
    await ended

    expect(repository.untouchable()).toEqual(before)
    const states = await listCheckpoints(await repository.workTree(), JOB)
    expect(states.map(({ tree }) => tree)).toContain(now)
    await restoreTo(repository, then)
    expect(await captureTree(await repository.workTree())).toBe(then.tree)
    expect(readdirSync(repository.path('.git/reprise')).filter((name) => name.startsWith('draft'))).toEqual(
      [],
    )
  })
})
