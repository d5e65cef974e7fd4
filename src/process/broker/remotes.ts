/**
 * The addresses to which a repository pushes. They are read before an agent's session begins and kept, so that nothing the agent writes changes
 * where its commits go.
 */
import { join } from 'node:path'
import type { Git } from '../git/run.ts'
import type { Repository } from './repository.ts'

export interface Remotes {
  /** The repository that they belong to. */
  commonDir: string
  /** By the name of the remote. */
  addresses: Readonly<Record<string, string>>
  /** The remote of each branch that has one, by the name of the branch. */
  branches: Readonly<Record<string, string>>
  /** `remote.pushDefault`. */
  fallback: string | null
}

/** Only this file is read, without those that it includes. Reading it starts no program. */
export async function readRemotes(git: Git, { commonDir }: Repository): Promise<Remotes> {
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
    addresses: { ...ofSection('remote', 'url'), ...ofSection('remote', 'pushurl') },
    branches: { ...ofSection('branch', 'remote'), ...ofSection('branch', 'pushremote') },
    fallback:
      settings.find(({ section, key }) => section === 'remote' && key === 'pushdefault')?.value ?? null,
  }
}
