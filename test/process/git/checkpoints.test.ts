/** Refs of checkpoints: created, numbered, listed, deleted; and the differences between them. */
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import {
  commitCheckpoint,
  deleteCheckpoints,
  listCheckpoints,
  type NewCheckpoint,
} from '../../../src/process/git/checkpoints.ts'
import { diff } from '../../../src/process/git/diff.ts'
import { Repository } from './repository.ts'

async function checkpoint(repository: Repository, extra: Partial<NewCheckpoint> = {}) {
  const workTree = await repository.workTree()
  const tree = await captureTree(workTree)
  return commitCheckpoint(workTree, { jobId: 'job_1', tree, message: 'checkpoint', ...extra })
}

describe('a checkpoint', () => {
  it('is a commit on top of HEAD, by Reprise, unsigned, under a ref of its own', async () => {
    const repository = Repository.committed()
    repository.git('config', 'commit.gpgSign', 'true')
    repository.git('config', 'gpg.program', 'false')
    const head = repository.git('rev-parse', 'HEAD').trim()
    const before = repository.untouchable()
    const made = await checkpoint(repository.write('file', '2'), { message: 'After attempt 1', number: 7 })
    expect(made).toMatchObject({ number: 7, ref: 'refs/reprise/job_1/7', head, unfinished: null })
    expect(repository.untouchable()).toEqual(before)
    expect(repository.git('log', '-1', '--format=%an <%ae> %cn %P %s', made.ref).trim()).toBe(
      `Reprise <reprise@localhost> Reprise ${head} After attempt 1`,
    )
    expect(repository.git('rev-parse', `${made.ref}^{tree}`).trim()).toBe(made.tree)
    expect(repository.git('fsck', '--strict')).not.toContain('missing')
    const next = await checkpoint(repository, { previous: made.commit })
    expect(repository.git('log', '-1', '--format=%B', next.ref)).toContain(`Reprise-Previous: ${made.commit}`)
  })

  it('is listed with its properties, in the order of the numbers', async () => {
    const repository = Repository.create()
    const begun = Date.now()
    const message = 'Line one\n\nReprise-Head: forged\nReprise-Unfinished: forged'
    const unborn = await checkpoint(repository.write('a', ''), { message })
    repository.commit('first')
    for (let i = 2; i <= 11; i++) await checkpoint(repository.write('a', String(i)))
    await checkpoint(repository, { jobId: 'job_10' })
    const workTree = await repository.workTree()
    const list = await listCheckpoints(workTree, 'job_1')
    expect(list.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(list[0]).toEqual({ ...unborn, head: null, at: expect.any(Date), message: 'Line one' })
    // Git records whole seconds.
    expect(list[0]?.at.getTime()).toBeGreaterThan(begun - 1000)
    expect(list[0]?.at.getTime()).toBeLessThanOrEqual(Date.now())
    expect(list[1]?.head).toBe(repository.git('rev-parse', 'HEAD').trim())
    expect(await listCheckpoints(workTree, 'job_2')).toEqual([])
  })

  it('never replaces another', async () => {
    const repository = Repository.committed()
    const first = await checkpoint(repository, { number: 3 })
    const second = await checkpoint(repository.write('file', '2'), { number: 3 })
    expect(second.number).toBe(4)
    expect((await checkpoint(repository, { number: 1 })).number).toBe(1)
    expect(repository.git('rev-parse', first.ref).trim()).toBe(first.commit)
    const workTree = await repository.workTree()
    const many = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        commitCheckpoint(workTree, { jobId: 'job_2', tree: first.tree, message: String(i) }),
      ),
    )
    expect(many.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4])
  })

  it.each(['', '../heads', 'a/b', '-d', 'a..b', 'a b', 'a\n', 'x.lock'])(
    'is refused for the job %j',
    async (jobId) => {
      const repository = Repository.committed()
      await expect(checkpoint(repository, { jobId })).rejects.toThrow('cannot be used in the name of a ref')
    },
  )

  it('is deleted with its job, or by number, and no other', async () => {
    const repository = Repository.committed()
    for (let i = 0; i < 3; i++) await checkpoint(repository)
    await checkpoint(repository, { jobId: 'job_2' })
    const workTree = await repository.workTree()
    expect(await deleteCheckpoints(workTree, 'job_1', [2, 9])).toBe(1)
    expect((await listCheckpoints(workTree, 'job_1')).map(({ number }) => number)).toEqual([1, 3])
    expect(await deleteCheckpoints(workTree, 'job_1')).toBe(2)
    expect(await deleteCheckpoints(workTree, 'job_1')).toBe(0)
    expect(await listCheckpoints(workTree, 'job_2')).toHaveLength(1)
  })

  it('survives git gc, and frees its space when deleted', async () => {
    const repository = Repository.committed()
    const made = await checkpoint(repository.write('new', 'precious'))
    const other = await checkpoint(repository.write('new', 'other'))
    repository.git('gc', '--quiet', '--prune=now')
    expect(repository.content(made.commit, 'new')).toBe('precious')
    await deleteCheckpoints(await repository.workTree(), 'job_1', [made.number])
    repository.git('gc', '--quiet', '--prune=now')
    expect(() => repository.content(made.commit, 'new')).toThrow()
    expect(repository.content(other.commit, 'new')).toBe('other')
  })
})

describe('a diff', () => {
  it('between two checkpoints has every file, with lines counted, and a patch', async () => {
    const repository = Repository.committed()
    repository
      .write('gone', 'g\n')
      .write('bin', Buffer.from([0, 1, 2]))
      .write('mode', '')
      .link('link', 'file')
    const from = await checkpoint(repository)
    repository.remove('gone').remove('link').write('link', 'l\n').write('mode', '', 0o755)
    repository
      .write('file', 'one\ntwo\n')
      .write('bin', Buffer.from([0, 2]))
      .write('a\tb\nc', 'x\n')
    const to = await checkpoint(repository)
    const result = await diff(await repository.workTree(), from.commit, to.commit)
    expect(result.files).toEqual([
      { status: 'added', path: 'a\tb\nc', added: 1, removed: 0 },
      { status: 'modified', path: 'bin', added: null, removed: null },
      { status: 'modified', path: 'file', added: 1, removed: 0 },
      { status: 'deleted', path: 'gone', added: 0, removed: 1 },
      { status: 'type-changed', path: 'link', added: 1, removed: 1 },
      { status: 'modified', path: 'mode', added: 0, removed: 0 },
    ])
    expect(result).toMatchObject({ filesTotal: 6, truncated: false })
    expect(result.patch).toContain('--- a/file\n+++ b/file\n@@ -1 +1,2 @@\n one\n+two\n')
    expect(await diff(await repository.workTree(), to.commit, to.tree)).toMatchObject({
      files: [],
      patch: '',
    })
  })

  it('with the present work tree', async () => {
    const repository = Repository.committed()
    const from = await checkpoint(repository)
    repository.write('file', 'two\n').write('new', '')
    const { files } = await diff(await repository.workTree(), from.commit, 'work-tree')
    expect(files.map(({ status, path }) => `${status} ${path}`)).toEqual(['modified file', 'added new'])
  })

  it('runs no program that is configured, and is the same for everybody', async () => {
    const repository = Repository.committed()
    repository.write('.gitattributes', '* diff=evil\n')
    const from = await checkpoint(repository)
    for (const [name, value] of [
      ['diff.external', 'false'],
      ['diff.evil.command', 'false'],
      ['diff.evil.textconv', 'false'],
      ['color.ui', 'always'],
      ['diff.noprefix', 'true'],
    ]) {
      repository.git('config', name ?? '', value ?? '')
    }
    repository.write('file', 'two\n')
    const { patch } = await diff(await repository.workTree(), from.commit, 'work-tree')
    expect(patch).toMatch(
      /^diff --git a\/file b\/file\nindex .*\n--- a\/file\n\+\+\+ b\/file\n@@ -1 \+1 @@\n-one\n\+two\n$/,
    )
  })

  it('is cut after a whole line if it is too long', async () => {
    const repository = Repository.committed()
    const from = await checkpoint(repository)
    repository.write('file', 'ü'.repeat(50).concat('\n').repeat(1000)).write('a', '').write('b', '')
    const options = { maxPatchBytes: 5000, maxFiles: 2 }
    const result = await diff(await repository.workTree(), from.commit, 'work-tree', options)
    expect(result).toMatchObject({ truncated: true, filesTotal: 3 })
    expect(result.files).toHaveLength(2)
    expect(result.patch.endsWith('ü\n')).toBe(true)
    expect(Buffer.byteLength(result.patch)).toBeLessThanOrEqual(5000)
  })

  it('of something that is not an object is refused', async () => {
    const repository = Repository.committed()
    writeFileSync(repository.path('x'), '')
    const workTree = await repository.workTree()
    await expect(diff(workTree, '--output=x', 'work-tree')).rejects.toMatchObject({ name: 'GitError' })
    await expect(diff(workTree, '1'.repeat(40), 'work-tree')).rejects.toMatchObject({
      kind: 'missing-object',
    })
  })
})
