/**
 * The addresses to which a repository pushes. They are read before an agent's session begins and kept, so that nothing the agent writes changes
 * where its commits go.
 */
import { join, resolve } from 'node:path'
import type { Repository } from '../git/repository.ts'
import type { Git } from '../git/run.ts'

export interface Remotes {
  /** The repository that they belong to. */
  commonDir: string
  /** By the name of the remote. Those of folders on this machine are absolute paths. */
  addresses: Readonly<Record<string, string>>
  /** The remote of each branch that has one, by the name of the branch. */
  branches: Readonly<Record<string, string>>
  /** `remote.pushDefault`. */
  fallback: string | null
}

/** Only this file is read, without those that it includes. Reading it starts no program. */
export async function readRemotes(git: Git, { top, commonDir }: Repository): Promise<Remotes> {
  const file = join(commonDir, 'config')
  const { stdout } = await git.run({
    args: ['config', '--file', file, '--no-includes', '--list', '-z'],
    what: 'read the remotes of the repository',
    cwd: '/',
    maxBytes: 1 << 20,
  })
  const settings = stdout
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const at = entry.indexOf('\n')
      const [, section = '', name = '', key = ''] =
        /^([^.]+)\.(?:(.*)\.)?([^.]+)$/s.exec(entry.slice(0, at)) ?? []
      return at === -1 ? [] : [{ section, name, key, value: entry.slice(at + 1) }]
    })
  const ofSection = (section: string, key: string) =>
    Object.fromEntries(
      settings
        .filter((setting) => setting.section === section && setting.key === key && setting.name !== '')
        .map(({ name, value }) => [name, value]),
    )
  return {
    commonDir,
    addresses: absoluteAddresses({ ...ofSection('remote', 'url'), ...ofSection('remote', 'pushurl') }, top),
    branches: { ...ofSection('branch', 'remote'), ...ofSection('branch', 'pushremote') },
    fallback:
      settings.find(({ section, key }) => section === 'remote' && key === 'pushdefault')?.value ?? null,
  }
}

/** The folder on this machine that an address stands for, by the rules of git. null: it is elsewhere, or needs a program. */
export function folderOf(address: string): string | null {
  if (/^file:\/\//i.test(address)) return decoded(address.slice('file://'.length))
  if (/^[\w+.-]+:(\/\/|:)/.test(address)) return null
  const [colon, slash] = [address.indexOf(':'), address.indexOf('/')]
  return colon === -1 || (slash !== -1 && slash < colon) ? address : null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** git is not started in the work tree, so a relative path would lead elsewhere. */
const absoluteAddresses = (addresses: Readonly<Record<string, string>>, top: string) =>
  Object.fromEntries(
    Object.entries(addresses).map(([name, address]) => [
      name,
      folderOf(address) === address ? resolve(top, address) : address,
    ]),
  )
