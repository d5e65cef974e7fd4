/** Repositories that try to make our git calls start a program, or wait forever. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import { commitCheckpoint, deleteCheckpoints, listCheckpoints } from '../../../src/process/git/checkpoints.ts'
import { inspect } from '../../../src/process/git/inspect.ts'
import { restore } from '../../../src/process/git/restore.ts'
import { readUnfinished } from '../../../src/process/git/unfinished.ts'
import { Repository } from './repository.ts'

/** Everything that a job does with its work tree. Returns the tree of the second checkpoint. */
async function useAll(repository: Repository): Promise<string> {
  const workTree = await repository.workTree()
  const first = await commitCheckpoint(workTree, {
    jobId: 'job',
    tree: await captureTree(workTree),
    message: 'one',
  })
  repository.write('file', 'changed\n')
  await inspect(workTree, { tree: first.tree, head: first.head })
  const tree = await captureTree(workTree)
  await commitCheckpoint(workTree, { jobId: 'job', tree, message: 'two', previous: first.commit })
  await restore(workTree, { commit: first.commit, saveAs: { jobId: 'job', message: 'before a restore' } })
  expect(repository.read('file')).toBe('one\n')
  // A restore saves what it replaces.
  expect((await listCheckpoints(workTree, 'job')).length).toBeGreaterThanOrEqual(2)
  repository.git('-c', 'core.hooksPath=/dev/null', 'pack-refs', '--all')
  await deleteCheckpoints(workTree, 'job', [1])
  expect((await listCheckpoints(workTree, 'job')).map(({ number }) => number)).not.toContain(1)
  return tree
}

/** A command for a setting, and whether it ran. */
function trap(repository: Repository) {
  const mark = join(repository.home, 'ran')
  const script = join(repository.home, 'evil')
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >>'${mark}'\ncat\n`, { mode: 0o755 })
  return { script, ran: () => (existsSync(mark) ? readFileSync(mark, 'utf8') : '') }
}

const inside = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-C', dir, ...args], { stdio: 'pipe' })

describe('no program is started', () => {
  it("by the repository's own configuration", async () => {
    const repository = Repository.committed()
    const { script, ran } = trap(repository)
    repository.write('.gitattributes', '* filter=x diff=x merge=x\n').commit('attributes')
    for (const key of [
      ...['core.fsmonitor', 'core.alternateRefsCommand', 'core.editor', 'core.pager', 'core.sshCommand'],
      ...['filter.x.clean', 'filter.x.smudge', 'filter.x.process', 'diff.external', 'diff.x.textconv'],
      ...[
        'diff.x.command',
        'merge.x.driver',
        'gpg.program',
        'credential.helper',
        'uploadpack.packObjectsHook',
      ],
    ])
      repository.git('config', key, script)
    const hooks = join(repository.home, 'hooks')
    mkdirSync(hooks)
    for (const name of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-checkout'])
      writeFileSync(join(hooks, name), `#!/bin/sh\nexec '${script}' ${name}\n`, { mode: 0o755 })
    repository.git('config', 'core.hooksPath', hooks)
    repository.git('config', 'include.path', join(repository.home, 'more'))
    await useAll(repository)
    expect(ran()).toBe('')
  })

  it('by a repository inside the work tree, which is recorded as the commit it is at', async () => {
    const repository = Repository.committed()
    const { script, ran } = trap(repository)
    const nested = repository.path('nested')
    mkdirSync(nested)
    repository.git('init', '--quiet', nested)
    repository.write('nested/.gitattributes', '* filter=x\n').write('nested/data', 'one')
    inside(nested, '-c', 'user.name=a', '-c', 'user.email=a@b', 'add', '--all')
    inside(nested, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'one')
    const head = execFileSync('git', ['-C', nested, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
    for (const key of ['filter.x.clean', 'filter.x.process', 'core.fsmonitor'])
      inside(nested, 'config', key, script)
    await captureTree(await repository.workTree())
    repository.write('nested/data', 'two')
    const tree = await useAll(repository)
    expect(repository.names(tree)).toContain('160000 nested')
    expect(repository.git('ls-tree', tree, 'nested')).toContain(head)
    expect(ran()).toBe('')
  })

  it.each(['nested', '.'])('by a promisor remote when a commit is missing: in %s', async (where) => {
    const repository = Repository.committed()
    const { script, ran } = trap(repository)
    const dir = repository.path(where)
    mkdirSync(dir, { recursive: true })
    if (where !== '.') repository.git('init', '--quiet', dir)
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'evil'],
      ['remote.evil.url', repository.home],
      ['remote.evil.promisor', 'true'],
      ['remote.evil.uploadpack', script],
    ] as const)
      inside(dir, 'config', key, value)
    writeFileSync(join(dir, '.git/HEAD'), `${'1'.repeat(40)}\n`)
    const workTree = await repository.workTree()
    const tree = await captureTree(workTree)
    await inspect(workTree, { tree, head: null })
    expect(ran()).toBe('')
  })
})

describe('nothing is waited for', () => {
  it('five FIFOs as .git/info/exclude: captures succeed, and other file operations go on', async () => {
    const repositories = Array.from({ length: 5 }, () => Repository.committed())
    for (const repository of repositories) {
      mkdirSync(repository.path('.git/info'), { recursive: true })
      rmSync(repository.path('.git/info/exclude'), { force: true })
      execFileSync('mkfifo', [repository.path('.git/info/exclude')])
    }
    const trees = repositories.map(async (repository) => captureTree(await repository.workTree()))
    await readFile('/proc/self/stat')
    for (const [index, tree] of (await Promise.all(trees)).entries())
      expect(repositories[index]?.names(tree)).toEqual(['file'])
  })

  it('a FIFO in the place of a list of steps', async () => {
    const repository = Repository.committed()
    mkdirSync(repository.path('.git/sequencer'))
    execFileSync('mkfifo', [repository.path('.git/sequencer/todo')])
    expect(readUnfinished(await repository.workTree())).toBeNull()
  })
})
