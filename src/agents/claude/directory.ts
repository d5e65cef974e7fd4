/**
 * Finds everything in a work directory that Claude Code would obey: settings with hooks and permissions, MCP servers, commands, agents,
 * skills. As measured (docs/agents/claude-code.md), `.mcp.json`, agents, commands and skills are read in every folder above, too;
 * `settings.local.json`, agents, commands and skills also in the main work tree, if the directory is a linked one. All of these folders
 * are searched for all of these files, because a file too many costs a question, and a file too few would apply unseen.
 */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Grant } from '../../contract/trust.ts'
import { throwIfLacking } from '../../files/lacking.ts'
import { examineUntrusted, readUntrusted } from '../../files/untrusted.ts'
import type { Env } from '../adapter.ts'
import { type ContentFile, type DirectoryContent, hashOf } from '../directory-content.ts'
import { configDirOf } from './config-dir.ts'
import { grantsOf } from './grants.ts'

/** Entries of `.claude` that are texts for the model, or the agent's own data. */
const HARMLESS = [
  'CLAUDE.md',
  'CLAUDE.local.md',
  'rules',
  'worktrees',
  'agent-memory',
  'agent-memory-local',
  'plans',
  'todos',
  'scheduled_tasks.json',
  'scheduled_tasks.lock',
]

const MAX_FILES = 2000
const MAX_DEPTH = 8
const MAX_FILE_BYTES = 4 << 20
const MAX_TOTAL_BYTES = 16 << 20

export async function readClaudeDirectory(workDir: string, env: Env): Promise<DirectoryContent> {
  const found = new Collection()
  const configDir = resolve(configDirOf(env))
  for (const dir of await foldersFor(workDir)) {
    await found.addFile(join(dir, '.mcp.json'))
    const own = join(dir, '.claude')
    // The user's own settings are in force everywhere.
    if (own !== configDir) await found.addFolder(own, HARMLESS)
  }
  return found
}

/** The work directory, the folders above it, and the main work tree of its repository. */
export async function foldersFor(workDir: string): Promise<string[]> {
  const folders = foldersAbove(workDir)
  const main = await findMainWorkTree(folders)
  return main === null || folders.includes(main) ? folders : [...folders, main]
}

/** The directory itself first. */
export function foldersAbove(dir: string): string[] {
  const above = dirname(dir)
  return above === dir ? [dir] : [dir, ...foldersAbove(above)]
}

const MAX_LINK_BYTES = 1 << 16

/** In a linked work tree `.git` is a file, which names a folder of the main one. */
async function findMainWorkTree(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const link = await readUntrusted(join(folder, '.git'), MAX_LINK_BYTES)
    const gitDir = /^gitdir: (.+)$/m.exec(link ?? '')?.[1]
    if (gitDir === undefined) continue
    const absolute = resolve(folder, gitDir)
    const common = (await readUntrusted(join(absolute, 'commondir'), MAX_LINK_BYTES))?.trim()
    return common ? dirname(resolve(absolute, common)) : null
  }
  return null
}

class Collection implements DirectoryContent {
  readonly files: ContentFile[] = []
  readonly grants: Grant[] = []
  readonly problems: string[] = []
  #bytes = 0

  /** Returns whether it is a folder. */
  async addFile(path: string): Promise<boolean> {
    if (this.#isFull(path)) return false
    // A link is followed, as the agent does; what counts is the content.
    const read = await examineUntrusted(path, { maxBytes: MAX_FILE_BYTES, followLink: true })
    if (read.kind === 'unusable') this.problems.push(`${path} ${read.why}`)
    if (read.kind !== 'file') return read.kind === 'folder'
    this.#bytes += read.bytes.length
    this.files.push({ path, hash: hashOf(read.bytes) })
    this.grants.push(...grantsOf(path, read.bytes.toString('utf8')))
    return false
  }

  async addFolder(path: string, except: readonly string[] = [], depth = 0): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      throwIfLacking(error)
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR')
        this.problems.push(`${path} cannot be read: ${error.message}`)
      return [] as Dirent[]
    })
    if (depth > MAX_DEPTH) {
      this.problems.push(`${path} is nested too deeply`)
      return
    }
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (this.#isFull(path)) return
      if (except.includes(entry.name)) continue
      const inside = join(path, entry.name)
      if (entry.isDirectory() || (await this.addFile(inside))) await this.addFolder(inside, [], depth + 1)
    }
  }

  #isFull(path: string): boolean {
    if (this.files.length < MAX_FILES && this.#bytes < MAX_TOTAL_BYTES) return false
    const problem = 'there are too many files, or they are too large, to be read completely'
    if (!this.problems.some((text) => text.endsWith(problem))) this.problems.push(`${path}: ${problem}`)
    return true
  }
}

const MAX_INSTRUCTIONS_BYTES = 256 << 10

/**
 * The instructions that Claude Code does not read by itself while the settings of the directory are excluded: those of the folders above,
 * and those that a person keeps out of the repository. Outermost first.
 */
export async function readClaudeInstructions(workDir: string, env: Env): Promise<string | null> {
  const configDir = resolve(configDirOf(env))
  const [own = workDir, ...above] = foldersAbove(workDir)
  const paths = [
    ...above
      .toReversed()
      .flatMap((dir) => [
        join(dir, 'CLAUDE.md'),
        ...(join(dir, '.claude') === configDir ? [] : [join(dir, '.claude', 'CLAUDE.md')]),
        join(dir, 'CLAUDE.local.md'),
      ]),
    join(own, 'CLAUDE.local.md'),
  ]
  const texts: string[] = []
  for (const path of paths) {
    // Reprise sends this text to the model, and an agent can make links in its directory, also to files that it must not see.
    const read = await examineUntrusted(path, { maxBytes: MAX_INSTRUCTIONS_BYTES, followLink: 'beside' })
    const text = read.kind === 'file' ? read.bytes.toString('utf8').trim() : ''
    if (text !== '') texts.push(`Contents of ${path} (instructions for this project):\n\n${text}`)
  }
  return texts.length > 0 ? texts.join('\n\n') : null
}
