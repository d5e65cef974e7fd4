/**
 * Plans a push that the broker makes on behalf of an agent: from a repository of the broker's own, to an address that was fixed before the
 * agent's session began. So no hook, helper, address or other setting of the agent's repository has any effect outside; only the ids of its
 * commits are taken from it, and its objects are borrowed.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitPush, RefUpdate } from '../../core/rules/git-push.ts'
import { isObjectId, listRefs, type Repository, readHead, readRef } from '../git/repository.ts'
import type { Remotes } from './remotes.ts'

export interface PushPlan {
  ok: true
  args: readonly string[]
  /** Where it goes. */
  address: string
  /** What a reference in the agent's repository should say after the push. */
  tracking: readonly { ref: string; id: string }[]
}

export type PushResult = PushPlan | { ok: false; problem: string }

interface Resolved {
  /** Empty: the reference is deleted. */
  id: string
  dst: string
  force: boolean
}

const problem = (text: string) => ({ ok: false as const, problem: text })

export function planPush(push: GitPush, repository: Repository, remotes: Remotes): PushResult {
  if (repository.commonDir !== remotes.commonDir)
    return problem('only the repository of the work directory can be pushed')
  if (push.mirror || push.prune) return problem('--mirror and --prune are not supported')
  const branch = readHead(repository)?.replace(/^refs\/heads\//, '') ?? null
  const remote =
    push.remote ?? (branch === null ? undefined : remotes.branches[branch]) ?? remotes.fallback ?? 'origin'
  const address = Object.hasOwn(remotes.addresses, remote) ? remotes.addresses[remote] : undefined
  const known = address ?? Object.values(remotes.addresses).find((one) => one === remote)
  if (known === undefined)
    return problem(
      `${JSON.stringify(remote)} was not a remote of this repository when the session began; known: ${Object.keys(remotes.addresses).join(', ') || 'none'}`,
    )
  if (known.startsWith('-') || /^ext::/i.test(known))
    return problem(`the address ${JSON.stringify(known)} is not supported`)
  const resolved = resolveAll(push, repository, branch)
  if (!Array.isArray(resolved)) return resolved
  const leases = leasesOf(push, resolved, repository, remote)
  if (!Array.isArray(leases)) return leases
  return {
    ok: true,
    args: [
      ...[
        '-c',
        'core.hooksPath=/dev/null',
        '-c',
        'protocol.ext.allow=never',
        '-c',
        'push.recurseSubmodules=no',
        'push',
      ],
      ...['--no-verify', '--no-signed'],
      ...(push.atomic ? ['--atomic'] : []),
      ...(push.dryRun ? ['--dry-run'] : []),
      ...(push.force ? ['--force'] : []),
      ...push.pushOptions.map((option) => `--push-option=${option}`),
      ...leases,
      '--',
      known,
      ...resolved.map(({ id, dst, force }) => `${force ? '+' : ''}${id}:${dst}`),
    ],
    address: known,
    tracking: push.dryRun ? [] : trackingOf(resolved, remote, address !== undefined),
  }
}

function resolveAll(
  push: GitPush,
  repository: Repository,
  branch: string | null,
): Resolved[] | { ok: false; problem: string } {
  const all = [
    ...(push.all ? listRefs(repository, 'refs/heads') : []),
    ...(push.tags ? listRefs(repository, 'refs/tags') : []),
  ].map((name): RefUpdate => ({ src: name, dst: name, force: false, delete: false }))
  const updates = [...push.updates, ...all]
  if (updates.length === 0) {
    if (branch === null) return problem('no branch is checked out; name what is to be pushed')
    updates.push({ src: `refs/heads/${branch}`, dst: `refs/heads/${branch}`, force: false, delete: false })
  }
  const resolved: Resolved[] = []
  for (const update of updates) {
    const one = resolveUpdate(update, repository)
    if ('problem' in one) return one
    resolved.push(one)
  }
  return resolved
}

function resolveUpdate(update: RefUpdate, repository: Repository): Resolved | { ok: false; problem: string } {
  const { src, dst, force } = update
  if (update.delete || src === '') return { id: '', dst: fullName(dst || src, 'refs/heads'), force }
  if (isObjectId(src)) {
    if (dst === '') return problem(`name the branch to which ${src} is to be pushed`)
    return { id: src, dst: fullName(dst, 'refs/heads'), force }
  }
  const names =
    src === 'HEAD' || src === '@'
      ? [readHead(repository) ?? 'HEAD']
      : [src, `refs/heads/${src}`, `refs/tags/${src}`]
  const name = names.find((one) => readRef(repository, one) !== null)
  const id = name === undefined ? null : readRef(repository, name)
  if (name === undefined || id === null)
    return problem(`${JSON.stringify(src)} is not a branch, a tag or the whole id of a commit`)
  if (name === 'HEAD' && dst === '') return problem('no branch is checked out; name the branch to push to')
  return {
    id,
    dst: dst === '' ? name : fullName(dst, name.startsWith('refs/tags/') ? 'refs/tags' : 'refs/heads'),
    force,
  }
}

const fullName = (name: string, below: string) => (name.startsWith('refs/') ? name : `${below}/${name}`)

const trackingName = (remote: string, dst: string) => dst.replace(/^refs\/heads\//, `refs/remotes/${remote}/`)

/** The broker's repository does not know what the remote had, so each lease says it. */
function leasesOf(
  push: GitPush,
  resolved: readonly Resolved[],
  repository: Repository,
  remote: string,
): string[] | { ok: false; problem: string } {
  const leases: string[] = []
  for (const lease of push.leases) {
    const [name = '', expected] = lease.split(':')
    for (const { dst } of resolved.filter((one) => name === '' || fullName(name, 'refs/heads') === one.dst)) {
      const id = expected ?? readRef(repository, trackingName(remote, dst))
      if (id === null || (id !== '' && !isObjectId(id)))
        return problem(`it is not known what ${dst} is expected to be`)
      leases.push(`--force-with-lease=${dst}:${id}`)
    }
  }
  return leases
}

const trackingOf = (resolved: readonly Resolved[], remote: string, isNamed: boolean) =>
  resolved
    .filter(({ id, dst }) => isNamed && id !== '' && dst.startsWith('refs/heads/'))
    .map(({ id, dst }) => ({ ref: trackingName(remote, dst), id }))

/** A bare repository without settings that borrows the objects of another one. Can be repeated. */
export function openPrivateRepository(
  dir: string,
  { commonDir }: Repository,
  objectFormat: 'sha1' | 'sha256',
): void {
  const info = join(dir, 'objects', 'info')
  for (const folder of [info, join(dir, 'refs')]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text, { mode: 0o600 })
  const isSha1 = objectFormat === 'sha1'
  if (!existsSync(join(dir, 'HEAD'))) write('HEAD', 'ref: refs/heads/none\n')
  write(
    'config',
    `[core]\n\trepositoryformatversion = ${isSha1 ? 0 : 1}\n\tbare = true\n${isSha1 ? '' : '[extensions]\n\tobjectformat = sha256\n'}`,
  )
  write(join('objects', 'info', 'alternates'), `${join(commonDir, 'objects')}\n`)
}
