/** The push that the broker makes: planned from arguments, then really made, from a repository of its own. */
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { parseGitPush } from '../../../src/core/rules/git-push.ts'
import { openPrivateRepository, planPush } from '../../../src/process/broker/push.ts'
import { folderOf, type Remotes, readRemotes } from '../../../src/process/broker/remotes.ts'
import { findRepository } from '../../../src/process/git/repository.ts'
import { openGit } from '../../../src/process/git/run.ts'
import { Repository } from '../git/repository.ts'

/** A repository with a bare one, `remote.git`, as its remote `origin`. */
async function cloned(change: (repository: Repository) => void = () => {}) {
  const repository = Repository.committed()
  repository.git('init', '-q', '--bare', '../remote.git')
  repository.git('remote', 'add', 'origin', '../remote.git')
  repository.git('push', '-q', 'origin', 'main')
  change(repository)
  const found = findRepository(repository.top)
  if (!found) throw new Error('there is no repository')
  const remotes = await readRemotes(openGit({ env: repository.env }), found)
  const plan = (text: string, known: Remotes = remotes, place = found) => {
    const parsed = parseGitPush(text.split(' ').filter(Boolean))
    if (!parsed.ok) throw new Error(parsed.problem)
    return planPush(parsed.push, place, known)
  }
  const id = (name: string) => repository.git('rev-parse', name).trim()
  return { repository, found, remotes, plan, id }
}

/** The refspecs at the end of a plan. */
const updates = (plan: ReturnType<typeof planPush>) =>
  plan.ok ? plan.args.slice(plan.args.indexOf('--') + 2) : plan.problem

describe('the remotes of a repository', () => {
  it('are read from its own file, as absolute addresses', async () => {
    const { repository, remotes } = await cloned((one) => {
      one.git('config', 'remote.two.url', 'git@example.org:a/b.git')
      one.git('config', 'remote.two.pushurl', 'ssh://example.org/push.git')
      one.git('config', 'remote.dotted.name.url', 'https://example.org/x')
      one.git('config', 'branch.main.remote', 'two')
      one.git('config', 'remote.pushDefault', 'origin')
      one.git('config', 'url.ssh://evil.example.org/.insteadOf', 'https://example.org/')
      writeFileSync(join(one.home, 'included'), '[remote "three"]\nurl = /x\n')
      one.git('config', 'include.path', join(one.home, 'included'))
    })
    expect(remotes).toEqual({
      commonDir: repository.path('.git'),
      addresses: {
        origin: join(repository.home, 'remote.git'),
        two: 'ssh://example.org/push.git',
        'dotted.name': 'https://example.org/x',
      },
      branches: { main: 'two' },
      fallback: 'origin',
    })
  })

  test.each([
    ['/a/b', '/a/b'],
    ['../b', '../b'],
    ['b', 'b'],
    ['./a:b', './a:b'],
    ['file:///a%20b', '/a b'],
    ['host:path', null],
    ['git@host:path/x', null],
    ['https://host/x', null],
    ['ssh://host/x', null],
    ['ext::sh -c x', null],
  ])('%s is the folder %j', (address, folder) => {
    expect(folderOf(address)).toBe(folder)
  })
})

describe('a push', () => {
  it('names the objects and the references to update', async () => {
    const { plan, id, repository } = await cloned((one) => {
      one.git('branch', 'feature/x')
      one.git('tag', 'v1')
      one.git('branch', 'v2')
      one.git('pack-refs', '--all')
      one.write('file', 'two\n').commit('second')
    })
    const [main, old] = [id('main'), id('v1')]
    expect(updates(plan(''))).toEqual([`${main}:refs/heads/main`])
    expect(updates(plan('origin main'))).toEqual([`${main}:refs/heads/main`])
    expect(updates(plan('origin HEAD:refs/heads/new'))).toEqual([`${main}:refs/heads/new`])
    expect(updates(plan('origin @:new'))).toEqual([`${main}:refs/heads/new`])
    expect(updates(plan('origin feature/x:y v1 tag v1'))).toEqual([
      `${old}:refs/heads/y`,
      `${old}:refs/tags/v1`,
      `${old}:refs/tags/v1`,
    ])
    expect(updates(plan(`origin ${main}:new`))).toEqual([`${main}:refs/heads/new`])
    expect(updates(plan('--all origin'))).toEqual([
      `${old}:refs/heads/feature/x`,
      `${main}:refs/heads/main`,
      `${old}:refs/heads/v2`,
    ])
    expect(updates(plan('origin +main :old'))).toEqual([`+${main}:refs/heads/main`, ':refs/heads/old'])
    expect(plan('origin main feature/x:y')).toMatchObject({
      address: join(repository.home, 'remote.git'),
      tracking: [
        { ref: 'refs/remotes/origin/main', id: main },
        { ref: 'refs/remotes/origin/y', id: old },
      ],
    })
    expect(plan('-n origin main')).toMatchObject({ tracking: [] })
    expect(plan(`${join(repository.home, 'remote.git')} main`)).toMatchObject({ ok: true, tracking: [] })
  })

  it.each([
    ['elsewhere main', 'was not a remote'],
    ['/x main', 'was not a remote'],
    ['constructor main', 'was not a remote'],
    ['origin nothing', 'is not a branch'],
    ['origin ../../x', 'is not a branch'],
    ['origin main~1', 'is not a branch'],
    [`origin ${'a'.repeat(40)}`, 'name the branch'],
    ['--mirror origin', 'not supported'],
    ['--prune origin main', 'not supported'],
    ['--force-with-lease=new origin main:new', 'it is not known'],
  ])('%s is refused', async (text, problem) => {
    const { plan } = await cloned()
    expect(plan(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })

  it('goes to the remote of its branch, and to no address that starts a program', async () => {
    const { plan, remotes } = await cloned()
    const addresses = { ...remotes.addresses, two: '/two', option: '--upload-pack=x', start: 'EXT::sh x' }
    const known = { ...remotes, addresses, branches: { main: 'two' } }
    expect(plan('', known)).toMatchObject({ address: '/two' })
    expect(plan('', { ...known, branches: {}, fallback: 'two' })).toMatchObject({ address: '/two' })
    for (const name of ['option', 'start']) expect(plan(`${name} main`, known)).toMatchObject({ ok: false })
  })

  it('is only made from the repository of the work directory', async () => {
    const { plan, remotes } = await cloned()
    const other = findRepository(Repository.committed().top)
    expect(other && plan('origin main', remotes, other)).toMatchObject({ ok: false })
  })

  it('is made without anything of the repository but its objects', async () => {
    const { plan, id, repository, found } = await cloned((one) => {
      one.write('.git/hooks/pre-push', `#!/bin/sh\ntouch '${one.home}/ran'\n`, 0o755)
      one.git('config', 'remote.origin.receivepack', `touch '${one.home}/ran'; git-receive-pack`)
      one.write('file', 'two\n').commit('second')
    })
    const dir = join(repository.home, 'private.git')
    const made = plan('origin main')
    if (!made.ok) throw new Error(made.problem)
    for (const _ of ['first', 'again']) {
      openPrivateRepository(dir, found, 'sha1')
      execFileSync('git', [...made.args], {
        cwd: '/',
        env: { ...repository.env, GIT_DIR: dir },
        stdio: 'pipe',
      })
    }
    const remote = ['--git-dir', join(repository.home, 'remote.git')]
    expect(repository.git(...remote, 'rev-parse', 'main').trim()).toBe(id('main'))
    expect(existsSync(join(repository.home, 'ran'))).toBe(false)
  })
})
