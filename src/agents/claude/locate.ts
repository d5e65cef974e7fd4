/**
 * Finds a session's files: `<config dir>/projects/<slug of the directory>/<session id>.jsonl`, and beside it a folder
 * of the same name for what does not fit into it (sub-agents, long tool results).
 *
 * Invariant: an id that is not a UUID never becomes part of a path.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
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
  for (const slug of await readdir(projects).catch(() => [])) {
    if (await isKind(join(projects, slug, `${agentSessionId}.jsonl`), 'isFile')) slugs.push(slug)
  }
  const slug = slugs.find((name) => belongsTo(name, workDir)) ?? (slugs.length === 1 ? slugs[0] : undefined)
  if (slug === undefined) return null
  const folder = join(projects, slug, agentSessionId)
  return {
    transcript: `${folder}.jsonl`,
    folder: (await isKind(folder, 'isDirectory')) ? folder : null,
  }
}

/** Returns the path in the folder of the work directory, which is the first place where the CLI looks. */
export function placeClaudeSession(agentSessionId: string, env: Env, workDir: string): SessionFiles | null {
  if (!UUID.test(agentSessionId)) return null
  const whole = workDir.replace(/[^a-zA-Z0-9]/g, '-')
  // For a long directory name, the CLI's own folder name cannot be computed. The CLI finds the session anyway if there
  // is only one copy.
  const slug = whole.length <= MAX_SLUG ? whole : `${whole.slice(0, MAX_SLUG)}-restored`
  const folder = join(configDirOf(env), 'projects', slug, agentSessionId)
  return { transcript: `${folder}.jsonl`, folder }
}

const MAX_SLUG = 200

/** For a long directory name, the slug is cut and a hash of the whole name added. */
function belongsTo(slug: string, workDir: string): boolean {
  const whole = workDir.replace(/[^a-zA-Z0-9]/g, '-')
  return whole.length <= MAX_SLUG
    ? slug === whole
    : slug.startsWith(`${whole.slice(0, MAX_SLUG)}-`) && !slug.slice(MAX_SLUG + 1).includes('-')
}

const isKind = (path: string, kind: 'isFile' | 'isDirectory') =>
  stat(path).then(
    (found) => found[kind](),
    () => false,
  )
