/** What a checkpoint contains, in repositories of every kind, and that taking it leaves no trace. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import { commitCheckpoint } from '../../../src/process/git/checkpoints.ts'
import { Repository } from './repository.ts'

/** Captures the work tree and returns the names in it; checks that nothing of the user's has changed. */
async function capture(repository: Repository): Promise<{ tree: string; names: string[] }> {
  const before = repository.untouchable()
  const tree = await captureTree(await repository.workTree())
  expect(repository.untouchable()).toEqual(before)
  return { tree, names: repository.names(tree) }
}

describe('a capture holds', () => {
  it('tracked and new files as they are on disk, and no ignored ones', async () => {
    const repository = Repository.committed()
    repository.write('.gitignore', '*.log\n').write('gone', 'x').commit('second')
    repository.write('file', 'two\n').write('new/deep', 'n').write('x.log', 'l').remove('gone')
    repository.write('run', '#!', 0o755).link('link', 'file').link('dangling', '/nowhere')
    const { tree, names } = await capture(repository)
    expect(names).toEqual(['.gitignore', '120000 dangling', 'file', '120000 link', 'new/deep', '100755 run'])
    expect(repository.content(tree, 'file')).toBe('two\n')
  })

  it('nothing, in an empty work tree without a commit or index', async () => {
    const repository = Repository.create()
    expect((await capture(repository)).names).toEqual([])
    expect(existsSync(repository.path('.git/index'))).toBe(false)
    repository.write('a', 'a')
    expect((await capture(repository)).names).toEqual(['a'])
  })

  it('names with spaces, newlines, quotes, globs, colons, leading dashes, and bytes that are not UTF-8', async () => {
    const repository = Repository.committed()
    const names = ['-rf', ':(exclude)*', '[a]*?', 'a b', 'a\nb', 'a"b\\', 'tab\t', 'ünï', ' ']
    for (const name of names) repository.write(name, name)
    writeFileSync(Buffer.concat([Buffer.from(`${repository.top}/`), Buffer.from([0xff, 0x41])]), 'raw')
    const { tree } = await capture(repository)
    const found = repository.git('ls-tree', '-r', '-z', '--name-only', tree).split('\0').filter(Boolean)
    expect(new Set(found)).toEqual(new Set([...names, 'file', '\ufffdA']))
  })

  it('ignored files that are tracked, as they are', async () => {
    const repository = Repository.committed()
    repository.write('kept.log', '1').write('.gitignore', '*.log\n')
    repository.git('add', '--force', 'kept.log')
    repository.commit('second')
    repository.write('kept.log', '2')
    const { tree, names } = await capture(repository)
    expect(names).toContain('kept.log')
    expect(repository.content(tree, 'kept.log')).toBe('2')
    expect((await capture(repository.remove('kept.log'))).names).not.toContain('kept.log')
  })

  it('nothing that the user or .git/info/exclude ignores; the settings of the repository are not read', async () => {
    const repository = Repository.committed()
    mkdirSync(join(repository.home, '.config/git'), { recursive: true })
    writeFileSync(join(repository.home, '.config/git/ignore'), 'by-user\n')
    mkdirSync(repository.path('.git/info'), { recursive: true })
    writeFileSync(repository.path('.git/info/exclude'), 'by-exclude\n')
    for (const name of ['by-user', 'by-exclude', 'by-setting']) repository.write(name, '')
    expect((await capture(repository)).names).toEqual(['by-setting', 'file'])
    writeFileSync(join(repository.home, 'more'), 'by-setting\n')
    repository.git('config', 'core.excludesFile', join(repository.home, 'more'))
    expect((await capture(repository)).names).toEqual(['by-setting', 'file'])
  })

  it('tracked files that .git/info/exclude ignores', async () => {
    const repository = Repository.committed()
    mkdirSync(repository.path('.git/info'), { recursive: true })
    writeFileSync(repository.path('.git/info/exclude'), 'file\n')
    expect((await capture(repository)).names).toEqual(['file'])
    expect((await capture(repository.write('file', 'changed'))).names).toEqual(['file'])
  })

  it('the bytes on disk, whatever conversions are configured', async () => {
    const repository = Repository.create()
    repository.git('config', 'core.autocrlf', 'true')
    repository.git('config', 'filter.drop.clean', 'head -c 1')
    repository.git('config', 'filter.drop.smudge', 'false')
    repository.write(
      '.gitattributes',
      '*.txt text=auto eol=crlf\n*.f filter=drop\n*.id ident\n*.u working-tree-encoding=UTF-16\n',
    )
    repository
      .write('a.txt', 'x\r\ny\n')
      .write('b.f', 'long')
      .write('c.id', '$Id: something $')
      .write('d.u', Buffer.from('\ufeffhi', 'utf16le'))
    repository.commit('first')
    const { tree } = await capture(repository)
    expect(repository.content(tree, 'a.txt')).toBe('x\r\ny\n')
    expect(repository.content(tree, 'b.f')).toBe('long')
    expect(repository.content(tree, 'c.id')).toBe('$Id: something $')
    expect(repository.git('cat-file', '-s', `${tree}:d.u`).trim()).toBe('6')
  })

  it('the executable bit also if the repository is configured to ignore it', async () => {
    const repository = Repository.committed()
    repository.git('config', 'core.fileMode', 'false')
    chmodSync(repository.path('file'), 0o755)
    expect((await capture(repository)).names).toEqual(['100755 file'])
  })
})

describe('the state of the index makes no difference:', () => {
  it('unmerged entries', async () => {
    const repository = Repository.conflicting()
    repository.tryGit('merge', 'other')
    expect(repository.git('ls-files', '--unmerged')).not.toBe('')
    const { tree } = await capture(repository)
    expect(repository.content(tree, 'file')).toBe(repository.read('file'))
    expect(repository.read('file')).toContain('<<<<<<<')
  })

  it('a split index, also with untracked cache', async () => {
    const repository = Repository.committed()
    repository.git('update-index', '--split-index', '--untracked-cache')
    repository.write('more', '1')
    repository.git('add', 'more')
    expect((await capture(repository.write('file', '2'))).names).toEqual(['file', 'more'])
  })

  it('intent to add, staged but then changed or removed, assume-unchanged, skip-worktree', async () => {
    const repository = Repository.committed()
    for (const name of ['assumed', 'skipped']) repository.write(name, 'old')
    repository.commit('second')
    repository.git('update-index', '--assume-unchanged', 'assumed')
    repository.git('update-index', '--skip-worktree', 'skipped')
    repository
      .write('assumed', 'new')
      .write('skipped', 'new')
      .write('intended', 'i')
      .write('staged', '1')
      .write('removed', '1')
    repository.git('add', '--intent-to-add', 'intended')
    repository.git('add', 'staged', 'removed')
    repository.write('staged', '2').remove('removed')
    const { tree, names } = await capture(repository)
    expect(names).toEqual(['assumed', 'file', 'intended', 'skipped', 'staged'])
    expect(['assumed', 'skipped', 'staged'].map((name) => repository.content(tree, name))).toEqual([
      'new',
      'new',
      '2',
    ])
  })

  it('another process holds its lock right now', async () => {
    const repository = Repository.committed()
    writeFileSync(repository.path('.git/index.lock'), '')
    writeFileSync(repository.path('.git/HEAD.lock'), '')
    const workTree = await repository.workTree()
    const { tree } = await capture(repository.write('file', '2'))
    expect((await commitCheckpoint(workTree, { jobId: 'job_1', tree, message: 'm' })).number).toBe(1)
    expect(existsSync(repository.path('.git/index.lock'))).toBe(true)
  })

  it.each(['--no-sparse-index', '--sparse-index'])(
    'a sparse checkout (%s): what it leaves out is not lost',
    async (kind) => {
      const repository = Repository.committed()
      repository.write('in/a', 'a').write('out/b', 'b').write('out/c', 'c').commit('second')
      repository.git('sparse-checkout', 'set', '--cone', kind, 'in')
      expect(existsSync(repository.path('out/b'))).toBe(false)
      expect((await capture(repository)).names).toEqual(['file', 'in/a', 'out/b', 'out/c'])
      const { tree } = await capture(repository.write('out/b', 'here').write('in/a', '2'))
      expect(repository.content(tree, 'out/b')).toBe('here')
      expect(repository.names(tree)).toEqual(['file', 'in/a', 'out/b', 'out/c'])
    },
  )
})

describe('repositories of other kinds', () => {
  it('a detached HEAD', async () => {
    const repository = Repository.committed()
    repository.git('checkout', '--quiet', '--detach')
    expect((await capture(repository.write('a', ''))).names).toEqual(['a', 'file'])
  })

  it('a linked work tree', async () => {
    const repository = Repository.committed()
    repository.git('worktree', 'add', '--quiet', join(repository.home, 'linked'))
    const linked = new Repository(repository.home, join(repository.home, 'linked'))
    const before = repository.untouchable()
    expect((await capture(linked.write('a', ''))).names).toEqual(['a', 'file'])
    expect(repository.untouchable()).toEqual(before)
  })

  it('SHA-256', async () => {
    const repository = Repository.committed('--object-format=sha256')
    const { tree, names } = await capture(repository.write('a', ''))
    expect([tree.length, names]).toEqual([64, ['a', 'file']])
  })

  it('objects borrowed from another repository', async () => {
    const origin = Repository.committed()
    const repository = new Repository(origin.home, join(origin.home, 'clone'))
    origin.git('clone', '--quiet', '--shared', origin.top, repository.top)
    expect((await capture(repository.write('a', ''))).names).toEqual(['a', 'file'])
  })
})

describe('repositories inside the work tree', () => {
  it('are recorded as a commit; without one, or broken, they are left out', async () => {
    const repository = Repository.committed()
    const inner = (name: string) => {
      mkdirSync(repository.path(name))
      const nested = new Repository(repository.home, repository.path(name))
      nested.git('init', '--quiet')
      return nested
    }
    const commit = inner('with a commit').write('x', '').commit('inner')
    inner('without').write('y', '')
    repository.write('broken/.git/HEAD', 'nonsense').write('broken/z', '')
    const { tree, names } = await capture(repository)
    expect(names).toEqual(['broken/z', 'file', '160000 with a commit'])
    expect(repository.git('ls-tree', tree, 'with a commit')).toContain(commit)
  })

  it('submodules: at their commit, also when never checked out; gone when removed', async () => {
    const library = Repository.committed()
    const repository = Repository.committed()
    repository.git('submodule', '--quiet', 'add', library.top, 'sub')
    repository.commit('with a submodule')
    const submodule = new Repository(repository.home, repository.path('sub'))
    const moved = submodule.write('more', '').commit('inside')
    const { tree, names } = await capture(repository)
    expect(names).toEqual(['.gitmodules', 'file', '160000 sub'])
    expect(repository.git('ls-tree', tree, 'sub')).toContain(moved)

    const clone = new Repository(repository.home, join(repository.home, 'clone'))
    repository.git('clone', '--quiet', repository.top, clone.top)
    expect((await capture(clone)).names).toEqual(['.gitmodules', 'file', '160000 sub'])
    expect((await capture(clone.remove('sub'))).names).toEqual(['.gitmodules', 'file'])
  })
})

describe('an earlier capture is used again', () => {
  it('and files changed in the same instant, to the same size, are seen', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    for (let i = 0; i < 8; i++) {
      repository.write('file', `first ${i % 10}`)
      await commitCheckpoint(workTree, { jobId: 'job_1', tree: await captureTree(workTree), message: 'm' })
      repository.write('file', `other ${i % 10}`)
      const tree = await captureTree(workTree)
      expect(repository.content(tree, 'file')).toBe(`other ${i % 10}`)
    }
  })

  it('and so are files whose time was set back, after one second, the resolution of git', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    const old = new Date('2020-01-01')
    utimesSync(repository.path('file'), old, old)
    await commitCheckpoint(workTree, { jobId: 'job_1', tree: await captureTree(workTree), message: 'm' })
    await delay(1100)
    repository.write('file', 'two\n')
    utimesSync(repository.path('file'), old, old)
    expect(repository.content(await captureTree(workTree), 'file')).toBe('two\n')
  })

  it('files that are ignored now are left out, ones that no longer are come in', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    repository.write('a.log', '').write('b.tmp', '').write('.gitignore', '*.tmp\n')
    const tree = await captureTree(workTree)
    await commitCheckpoint(workTree, { jobId: 'job_1', tree, message: 'm' })
    expect(repository.names(tree)).toEqual(['.gitignore', 'a.log', 'file'])
    repository.write('.gitignore', '*.log\n')
    expect(repository.names(await captureTree(workTree))).toEqual(['.gitignore', 'b.tmp', 'file'])
  })

  it('but not one whose content git may have deleted', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    repository.write('new', 'precious')
    const first = await captureTree(workTree)
    repository.git('prune', '--expire=now')
    expect(() => repository.names(first)).toThrow()
    const tree = await captureTree(workTree)
    expect(repository.content(tree, 'new')).toBe('precious')
  })

  it.each([0, 10, 60])('unless it is broken (%i bytes left of it)', async (bytes) => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    repository.write('new', 'n')
    const tree = await captureTree(workTree)
    await commitCheckpoint(workTree, { jobId: 'job_1', tree, message: 'm' })
    truncateSync(repository.path(`.git/reprise/index-${tree}`), bytes)
    expect(await captureTree(workTree)).toBe(tree)
  })

  it('also by several at once', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    const trees = await Promise.all(Array.from({ length: 4 }, () => captureTree(workTree)))
    expect(new Set(trees).size).toBe(1)
    expect(readdirSync(repository.path('.git/reprise'))).toEqual([`index-${trees[0]}`])
  })

  it('and few of them are kept', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    for (let i = 0; i < 5; i++) {
      repository.write('file', String(i))
      await commitCheckpoint(workTree, { jobId: 'job_1', tree: await captureTree(workTree), message: 'm' })
    }
    expect(readdirSync(repository.path('.git/reprise')).length).toBeLessThanOrEqual(2)
  })
})

it('a folder that has become a symlink out of the work tree is a symlink, and nothing behind it is read', async () => {
  const repository = Repository.committed()
  repository.write('dir/a', 'a').write('dir/x.log', 'l').write('.gitignore', '*.log\n')
  repository.git('add', '--force', 'dir/x.log')
  repository.commit('second')
  const outside = join(repository.home, 'outside')
  mkdirSync(outside)
  for (const name of ['a', 'x.log']) writeFileSync(join(outside, name), 'secret')
  repository.remove('dir')
  symlinkSync(outside, repository.path('dir'))
  expect((await capture(repository)).names).toEqual(['.gitignore', '120000 dir', 'file'])
})

describe.skipIf(process.getuid?.() === 0)('without permission to', () => {
  it('read a file, the error names the file', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    repository.write('secret', 's', 0o000)
    await expect(captureTree(workTree)).rejects.toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('secret'),
    })
  })

  it('write to the repository, the error says so', async () => {
    const repository = Repository.committed()
    const workTree = await repository.workTree()
    repository.write('new', 'n')
    chmodSync(repository.path('.git/objects'), 0o555)
    onTestFinished(() => chmodSync(repository.path('.git/objects'), 0o755))
    await expect(captureTree(workTree)).rejects.toMatchObject({ kind: 'read-only' })
  })
})

it('hooks do not run', async () => {
  const repository = Repository.committed()
  const workTree = await repository.workTree()
  for (const hook of ['pre-commit', 'post-index-change', 'reference-transaction', 'post-commit']) {
    repository.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${repository.home}/hooked\n`, 0o755)
  }
  await commitCheckpoint(workTree, { jobId: 'job_1', tree: await captureTree(workTree), message: 'm' })
  expect(existsSync(join(repository.home, 'hooked'))).toBe(false)
})

it('the index file is not opened for writing: its time stays', async () => {
  const repository = Repository.committed()
  const before = statSync(repository.path('.git/index')).mtimeMs
  repository.write('file', 'two\n')
  await captureTree(await repository.workTree())
  expect(statSync(repository.path('.git/index')).mtimeMs).toBe(before)
  expect(readFileSync(repository.path('file'), 'utf8')).toBe('two\n')
})
