/**
 * Where a session's files are: `<config dir>/projects/<slug of the directory>/<session id>.jsonl`, and beside it, for
 * what does not fit into it (sub-agents, long tool results), a folder of the same name.
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
 * As the CLI looks: in the folder of the work directory first; elsewhere only if there is just one. Of several copies
 * elsewhere it takes none ("No conversation found").
 */
export async function locateClaudeSession(
  sessionId: string,
  env: Env,
  workDir: string,
): Promise<SessionFiles | null> {
  if (!UUID.test(sessionId)) return null
  const projects = join(configDirOf(env), 'projects')
  const slugs: string[] = []
  for (const slug of await readdir(projects).catch(() => [])) {
    if (await isKind(join(projects, slug, `${sessionId}.jsonl`), 'isFile')) slugs.push(slug)
  }
  const slug = slugs.find((name) => belongsTo(name, workDir)) ?? (slugs.length === 1 ? slugs[0] : undefined)
  if (slug === undefined) return null
  const folder = join(projects, slug, sessionId)
  return {
    transcript: `${folder}.jsonl`,
    folder: (await isKind(folder, 'isDirectory')) ? folder : null,
  }
}

/** In the folder of the work directory, which is the first place where the CLI looks. */
export function placeClaudeSession(sessionId: string, env: Env, workDir: string): SessionFiles | null {
  if (!UUID.test(sessionId)) return null
  const whole = workDir.replace(/[^a-zA-Z0-9]/g, '-')
  // Of a long directory the CLI's own folder cannot be known; a session that is in one place only is found anywhere.
  const slug = whole.length <= MAX_SLUG ? whole : `${whole.slice(0, MAX_SLUG)}-restored`
  const folder = join(configDirOf(env), 'projects', slug, sessionId)
  return { transcript: `${folder}.jsonl`, folder }
}

const MAX_SLUG = 200

/** Of a long directory the slug is cut, and a hash of the whole added. */
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
