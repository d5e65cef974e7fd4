/**
 * Claude Code's own files inside a sandbox.
 *
 *   <config dir>                        a private folder, <config dir>/sandboxes/<session id> on the host. It is emptied before each
 *                                       start, except for lists of tasks and the like: what a weaker tier left there must
 *                                       not run with the rights of a stronger one.
 *   <config dir>/projects/<slug>        a folder of this session alone, <config dir>/projects/<slug>-<session id> on the host, where
 *                                       the CLI also finds it: it searches all folders if the usual one lacks the session.
 *   settings, plugins, login, …         the host's, read-only.
 *   .claude.json                        a copy.
 */
import { chmod, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import type { EncloseInput, Enclosure } from '../enclosure.ts'
import { makeAccessible, removeUntrusted } from '../remove-untrusted.ts'
import { configDirOf } from './config-dir.ts'
import { locateClaudeSession, ownFolderOf, SANDBOXES, slugOf } from './locate.ts'

/** Entries of the configuration directory that the agent may read. */
const READABLE = [
  'settings.json',
  'settings.local.json',
  '.credentials.json',
  'CLAUDE.md',
  'agents',
  'commands',
  'output-styles',
  'plugins',
  'rules',
  'skills',
]
/** Entries of the private folder that belong to the session. The CLI only reads data in them. */
const KEPT = ['todos', 'tasks', 'plans', 'file-history']

export async function encloseClaude({ agentSessionId, env, workDir }: EncloseInput): Promise<Enclosure> {
  const config = configDirOf(env)
  const slug = slugOf(workDir)
  const own = ownFolderOf(agentSessionId, env, workDir)
  if (slug === null || own === null) {
    throw new RepriseError(
      'bad-request',
      `the path of the work directory is too long for a sandbox: ${workDir}`,
      {
        hint: 'Use a work directory with a shorter path.',
      },
    )
  }
  const folder = join(config, SANDBOXES, agentSessionId)
  await emptyPrivateFolder(folder)
  await mkdir(own, { recursive: true, mode: 0o700 })
  await makeAccessible(own)
  await moveSession({ agentSessionId, env, workDir }, own)
  const general = join(env.CLAUDE_CONFIG_DIR ? config : env.HOME || homedir(), '.claude.json')
  await copyFile(general, join(folder, '.claude.json')).catch(ignoreMissing)
  const readable = await Promise.all(READABLE.map(async (name) => existing(join(config, name))))
  return {
    // Without it, .claude.json would be beside the folder, in a home that cannot be written.
    env: { ...env, CLAUDE_CONFIG_DIR: config },
    privateDirs: [
      { path: config, source: folder },
      { path: join(config, 'projects', slug), source: own },
    ],
    readOnly: readable.filter((path) => path !== null),
    workDirEntries: ['.claude', '.mcp.json'],
    disposable: [folder],
  }
}

async function emptyPrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    // Without rights on its folders the CLI would not start.
    if (KEPT.includes(entry.name) && entry.isDirectory()) await makeAccessible(path)
    else await removeUntrusted(path)
  }
}

/**
 * Moves the files of a session that are elsewhere: it was used outside a sandbox, or the work directory has been renamed. The transcript
 * comes last: with it, the move is complete.
 */
async function moveSession({ agentSessionId, env, workDir }: EncloseInput, own: string): Promise<void> {
  const found = await locateClaudeSession(agentSessionId, env, workDir)
  if (found === null || dirname(found.transcript) === own) return
  if (found.folder) {
    const to = join(own, agentSessionId)
    await rm(to, { recursive: true, force: true })
    await rename(found.folder, to)
  }
  await rename(found.transcript, join(own, `${agentSessionId}.jsonl`))
}

const existing = (path: string) =>
  stat(path).then(
    () => path,
    () => null,
  )

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
