/**
 * Finds a session's files: `<config dir>/projects/<slug of the directory>/<session id>.jsonl`, and beside it a folder
 * of the same name for what does not fit into it (sub-agents, long tool results). A session that was used in a sandbox has
 * a folder of its own, `<slug of the directory>-<session id>`.
 *
 * Invariants: an id that is not a UUID never becomes part of a path. In a folder that an agent in a sandbox could write, no
 * link is followed.
 */
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessLacking } from '../../files/lacking.ts'
import type { Env } from '../adapter.ts'
import type { SessionFiles } from '../session-files.ts'
import { configDirOf } from './config-dir.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Searches as the CLI does: first in the folder of the work directory, then elsewhere if there is exactly one copy. If
 * there are several copies elsewhere, the CLI uses none ("No conversation found").
 */
export async function locateClaudeSession(
  agentSessionId: string,
  env: Env,
  workDir: string,
): Promise<SessionFiles | null> {
  if (!UUID.test(agentSessionId)) return null
  const projects = join(configDirOf(env), 'projects')
  const slugs: string[] = []
  for (const slug of await readdir(projects).catch(unlessLacking([]))) {
    if (await isKind(join(projects, slug, `${agentSessionId}.jsonl`), 'isFile', isOwn(slug))) slugs.push(slug)
  }
  const slug = slugs.find((name) => belongsTo(name, workDir)) ?? (slugs.length === 1 ? slugs[0] : undefined)
  if (slug === undefined) return null
  const folder = join(projects, slug, agentSessionId)
  return {
    transcript: `${folder}.jsonl`,
    folder: (await isKind(folder, 'isDirectory', isOwn(slug))) ? folder : null,
    ...(isOwn(slug) ? { noLinks: true } : {}),
  }
}

/** Returns the path in the folder of the work directory, which is the first place where the CLI looks. */
export function placeClaudeSession(agentSessionId: string, env: Env, workDir: string): SessionFiles | null {
  if (!UUID.test(agentSessionId)) return null
  // For a long directory name, the CLI's own folder name cannot be computed. The CLI finds the session anyway if there
  // is only one copy.
  const slug = slugOf(workDir) ?? `${dashed(workDir).slice(0, MAX_SLUG)}-restored`
  const folder = join(configDirOf(env), 'projects', slug, agentSessionId)
  return { transcript: `${folder}.jsonl`, folder }
}

/** Where the private files of sandboxed sessions are, in the configuration directory. */
export const SANDBOXES = 'sandboxes'

/** The folder for the files of one session alone, which is its project folder in a sandbox. null: not possible. */
export function ownFolderOf(agentSessionId: string, env: Env, workDir: string): string | null {
  const slug = slugOf(workDir)
  if (slug === null || !UUID.test(agentSessionId)) return null
  return join(configDirOf(env), 'projects', `${slug}-${agentSessionId}`)
}

/** The name of the folder of a work directory. null: it is long, and cannot be computed. */
export function slugOf(workDir: string): string | null {
  const whole = dashed(workDir)
  return whole.length <= MAX_SLUG ? whole : null
}

const dashed = (workDir: string) => workDir.replace(/[^a-zA-Z0-9]/g, '-')

const OWN = /-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
const isOwn = (slug: string) => OWN.test(slug)

/** The session of a folder with a name like that of a private one. A directory may have such a name, too. */
export const ownerOf = (slug: string): string | null => OWN.exec(slug)?.[1] ?? null

const MAX_SLUG = 200

/** For a long directory name, the slug is cut and a hash of the whole name added. */
export function belongsTo(slug: string, workDir: string): boolean {
  const whole = dashed(workDir)
  return whole.length <= MAX_SLUG
    ? slug === whole
    : slug.startsWith(`${whole.slice(0, MAX_SLUG)}-`) && !slug.slice(MAX_SLUG + 1).includes('-')
}

const isKind = (path: string, kind: 'isFile' | 'isDirectory', noLink: boolean) =>
  (noLink ? lstat : stat)(path).then((found) => found[kind](), unlessLacking(false))
