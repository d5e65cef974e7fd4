import { describe, expect, test } from 'vitest'
import { type GitPush, parseGitPush } from '../../src/core/rules/git-push.ts'
import { talksToRemote } from '../../src/core/rules/git-remote.ts'
import { words } from './world.ts'

const NOTHING: GitPush = {
  remote: undefined,
  updates: [],
  all: false,
  tags: false,
  followTags: false,
  mirror: false,
  prune: false,
  atomic: false,
  dryRun: false,
  setUpstream: false,
  force: false,
  leases: [],
  forceIfIncludes: false,
  pushOptions: [],
}
const plain = (src: string, dst = '') => ({ src, dst, force: false, delete: false })

describe('git push', () => {
  test.each<[string, Partial<GitPush>]>([
    ['', {}],
    ['origin', { remote: 'origin' }],
    ['origin main', { remote: 'origin', updates: [plain('main')] }],
    [
      '-u origin HEAD:refs/heads/x',
      { remote: 'origin', setUpstream: true, updates: [plain('HEAD', 'refs/heads/x')] },
    ],
    ['origin +a:b c', { remote: 'origin', updates: [{ ...plain('a', 'b'), force: true }, plain('c')] }],
    ['origin :a', { remote: 'origin', updates: [{ src: '', dst: 'a', force: false, delete: true }] }],
    ['origin :', { remote: 'origin', updates: [plain('')] }],
    ['-d origin a', { remote: 'origin', updates: [{ src: '', dst: 'a', force: false, delete: true }] }],
    ['origin tag v1', { remote: 'origin', updates: [plain('refs/tags/v1')] }],
    ['--tags --follow-tags --atomic', { tags: true, followTags: true, atomic: true }],
    ['--all', { all: true }],
    ['--branches', { all: true }],
    ['-nf', { dryRun: true, force: true }],
    ['--mirror', { mirror: true }],
    ['--prune', { prune: true }],
    ['--force --no-force', { force: false }],
    ['--force-with-lease=main:abc --force-with-lease', { leases: ['main:abc', ''] }],
    ['-o ci.skip -oa=b --push-option=c', { pushOptions: ['ci.skip', 'a=b', 'c'] }],
    ['--repo=x', { remote: 'x' }],
    ['--repo x origin', { remote: 'origin' }],
    ['--no-verify --no-thin -q --progress --no-signed --recurse-submodules=no', {}],
    ['-- origin main', { remote: 'origin', updates: [plain('main')] }],
  ])('%s', (args, expected) => {
    expect(parseGitPush(words(args))).toEqual({ ok: true, push: { ...NOTHING, ...expected } })
  })

  test.each([
    ['--made-up', 'the option --made-up is not known'],
    ['--fo', 'the option --fo is not known'],
    ['-x', 'the option -x is not known'],
    ['--force=yes', 'takes no value'],
    ['--receive-pack=x', 'names a program'],
    ['--exec x', 'names a program'],
    ['--signed', 'signed push'],
    ['--recurse-submodules=on-demand', 'submodules'],
    ['origin a:b:c', 'is not a refspec'],
    ['origin a:b..c', 'is not a refspec'],
    ['origin ^a', 'excludes references'],
    ['-d origin a:b', 'takes plain names'],
    ['-o', 'has no value'],
  ])('%s is refused', (args, problem) => {
    expect(parseGitPush(words(args))).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })
})

test.each([
  ['push', true],
  ['-C dir push origin', true],
  ['fetch', true],
  ['pull --rebase', true],
  ['clone x', true],
  ['ls-remote', true],
  ['--made-up log', true],
  ['remote update', true],
  ['remote show origin', true],
  ['remote add -f x y', true],
  ['remote -v', false],
  ['remote add x y', false],
  ['submodule update --init', true],
  ['submodule status', false],
  ['archive --remote=x HEAD', true],
  ['archive HEAD', false],
  ['send-pack x', true],
  ['lfs push origin', true],
  ['lfs ls-files', false],
  ['log -- push', false],
  ['commit -m push', false],
  ['-c a=b status', false],
  ['', false],
])('git %s talks to a remote: %s', (args, expected) => {
  expect(talksToRemote(words(args))).toBe(expected)
})
