/** What is found before an agent continues. */
import { describe, expect, it } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import { commitCheckpoint } from '../../../src/process/git/checkpoints.ts'
import { inspect } from '../../../src/process/git/inspect.ts'
import { Repository } from './repository.ts'

async function checkpoint(repository: Repository) {
  const workTree = await repository.workTree()
  return commitCheckpoint(workTree, { jobId: 'job_1', tree: await captureTree(workTree), message: 'm' })
}

async function look(repository: Repository, since: Parameters<typeof inspect>[1] = null) {
  const before = repository.untouchable()
  const findings = await inspect(await repository.workTree(), since)
  expect(repository.untouchable()).toEqual(before)
  return findings
}

const MARKERS = 'a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n'

describe('nothing', () => {
  it('is found in a work tree that is as it was, however much is uncommitted', async () => {
    const repository = Repository.committed()
    repository.write('file', 'uncommitted').write('new', '').write('.gitignore', 'x\n')
    const since = await checkpoint(repository)
    repository.write('x', 'ignored')
    expect(await look(repository, since)).toEqual({
      unfinished: null,
      conflicted: [],
      changed: [],
      changedTotal: 0,
      headMoved: null,
      tree: since.tree,
    })
  })

  it('is compared where there is no checkpoint, nor a commit', async () => {
    const repository = Repository.create()
    expect(await look(repository.write('a', ''))).toMatchObject({
      changed: [],
      headMoved: null,
      conflicted: [],
    })
  })
})

describe('changes', () => {
  it('are listed, with what happened', async () => {
    const repository = Repository.committed()
    repository.write('gone', '').write('link', '').write('mode', '')
    const since = await checkpoint(repository)
    repository
      .write('file', '2')
      .write('a\nb', '')
      .remove('gone')
      .remove('link')
      .link('link', 'file')
      .write('mode', '', 0o755)
    expect(await look(repository, since)).toMatchObject({
      changed: [
        { status: 'added', path: 'a\nb' },
        { status: 'modified', path: 'file' },
        { status: 'deleted', path: 'gone' },
        { status: 'type-changed', path: 'link' },
        { status: 'modified', path: 'mode' },
      ],
      changedTotal: 5,
    })
  })

  it('are counted beyond two hundred', async () => {
    const repository = Repository.committed()
    const since = await checkpoint(repository)
    for (let i = 0; i < 250; i++) repository.write(`f${i}`, '')
    const { changed, changedTotal } = await look(repository, since)
    expect([changed.length, changedTotal]).toEqual([200, 250])
  })

  it('of HEAD are reported, also from no commit; committing what was there changes no file', async () => {
    const repository = Repository.create()
    repository.write('file', '1')
    const unborn = await checkpoint(repository)
    const first = repository.commit('first')
    expect(await look(repository, unborn)).toMatchObject({
      headMoved: { from: null, to: first },
      changedTotal: 0,
    })
    const since = await checkpoint(repository)
    const second = repository.commit('second')
    expect(await look(repository, since)).toMatchObject({ headMoved: { from: first, to: second } })
  })
})

describe('an unfinished', () => {
  it.each<[string, (repository: Repository) => void]>([
    ['merge', (r) => r.tryGit('merge', 'other')],
    ['rebase', (r) => r.tryGit('rebase', 'other')],
    ['rebase', (r) => r.tryGit('rebase', '--apply', 'other')],
    ['cherry-pick', (r) => r.tryGit('cherry-pick', 'other')],
    ['revert', (r) => r.tryGit('revert', '--no-edit', 'HEAD~1')],
    [
      'am',
      (r) => {
        r.git('format-patch', '--quiet', '-1', 'other', '-o', '../patches')
        r.tryGit('am', '../patches/0001-theirs.patch')
      },
    ],
    ['bisect', (r) => r.git('bisect', 'start')],
  ])('%s is found', async (operation, begin) => {
    const repository = Repository.conflicting()
    begin(repository)
    expect((await look(repository)).unfinished).toBe(operation)
  })

  it('sequence is found also between two picks, and in the work tree in which it is', async () => {
    const repository = Repository.conflicting()
    repository.tryGit('cherry-pick', 'other', 'HEAD~1')
    repository.git('checkout', '--quiet', '--theirs', 'file')
    repository.git('add', 'file')
    repository.git('commit', '--quiet', '--message', 'by hand')
    expect((await look(repository)).unfinished).toBe('cherry-pick')
    repository.git('worktree', 'add', '--quiet', '../linked', 'other')
    const linked = new Repository(repository.home, `${repository.home}/linked`)
    expect((await look(linked)).unfinished).toBe(null)
  })
})

describe('conflicts', () => {
  it('are unmerged files, also when the markers are gone', async () => {
    const repository = Repository.conflicting()
    repository.tryGit('merge', 'other')
    expect((await look(repository)).conflicted).toEqual(['file'])
    repository.write('file', 'resolved\n')
    expect((await look(repository)).conflicted).toEqual(['file'])
    repository.git('add', 'file')
    expect((await look(repository)).conflicted).toEqual([])
  })

  it('are files with markers, new or changed, that are in no index', async () => {
    const repository = Repository.committed()
    repository
      .write('file', MARKERS)
      .write('new ü', MARKERS.replaceAll('\n', '\r\n'))
      .write('link-target', 'x')
    expect((await look(repository)).conflicted).toEqual(['file', 'new ü'])
  })

  it('are not files that only talk about markers, or were committed with them', async () => {
    const repository = Repository.committed()
    repository.write('committed', MARKERS).commit('second')
    repository
      .write('indented', MARKERS.replaceAll(/^/gm, '  '))
      .write('half', '<<<<<<< ours\n')
      .write('heading', '>>>>>>>>>>\n<<<<<<<<<<\n')
    repository.write('committed', `${MARKERS}more\n`)
    expect((await look(repository)).conflicted).toEqual([])
  })

  it('are found also in a file that has not changed since the checkpoint', async () => {
    const repository = Repository.committed()
    const since = await checkpoint(repository.write('file', MARKERS))
    expect(await look(repository, since)).toMatchObject({ conflicted: ['file'], changedTotal: 0 })
  })
})
