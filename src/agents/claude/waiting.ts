/**
 * Finds the changes that a waiting process of Claude Code does not notice, and the things that it does by itself.
 *
 * It reads settings, instructions, its own memory, agents, commands, skills and the list of MCP servers when it starts. And its scheduler
 * carries out the tasks that the session or the directory has.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { examineUntrusted } from '../../files/untrusted.ts'
import type { Env } from '../adapter.ts'
import { configDirOf } from './config-dir.ts'
import { locateClaudeSession, slugOf } from './locate.ts'
import { isRecord, type Json } from './wire.ts'

const MANAGED = '/etc/claude-code'
const INSTRUCTIONS = ['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md']
const SETTINGS = ['settings.json', 'settings.local.json']
const FOLDERS = ['agents', 'commands', 'skills', 'rules', 'output-styles']
const PLUGINS = ['installed_plugins.json', 'known_marketplaces.json']
const SCHEDULE = join('.claude', 'scheduled_tasks.json')

export async function readClaudeStartFiles(env: Env, workDir: string): Promise<string> {
  const config = configDirOf(env)
  const upwards = parentsOf(workDir)
  const files = [
    ...[config, MANAGED].flatMap((dir) => inDir(dir, [...INSTRUCTIONS, ...SETTINGS])),
    ...inDir(MANAGED, ['managed-settings.json', 'managed-mcp.json']),
    ...inDir(join(config, 'plugins'), PLUGINS),
    ...upwards.flatMap((dir) => inDir(dir, [...INSTRUCTIONS, '.mcp.json', SCHEDULE])),
    ...upwards.flatMap((dir) => inDir(join(dir, '.claude'), [...INSTRUCTIONS, ...SETTINGS])),
  ]
  const folders = [config, ...upwards.map((dir) => join(dir, '.claude'))].flatMap((dir) =>
    inDir(dir, FOLDERS),
  )
  const slug = slugOf(workDir)
  if (slug !== null) folders.push(join(config, 'projects', slug, 'memory'))
  const imported = await listImported(files.filter((file) => file.endsWith('.md')))
  const found = [
    ...(await Promise.all([...files, ...imported].map(stampOf))),
    ...(await stampsInAll(folders)),
    await readServers(env, workDir),
  ]
  return createHash('sha256').update(found.join('\n')).digest('hex')
}

const inDir = (dir: string, names: readonly string[]) => names.map((name) => join(dir, name))

function parentsOf(dir: string): string[] {
  const parent = dirname(dir)
  return parent === dir ? [dir] : [dir, ...parentsOf(parent)]
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found ? `${path} ${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

const MAX_DEPTH = 4
const MAX_STAMPS = 10_000

/** If there are too many files, the result equals no other, so that no process is reused. */
async function stampsInAll(folders: readonly string[]): Promise<string[]> {
  const stamps: string[] = []
  let inside = [...folders]
  for (let depth = 0; depth <= MAX_DEPTH && inside.length > 0; depth++) {
    const next: string[] = []
    for (const dir of inside) {
      const entries: Dirent[] = await readdir(dir, { withFileTypes: true }).catch(() => [])
      if (stamps.length + next.length + entries.length > MAX_STAMPS) return [randomUUID()]
      for (const entry of entries) {
        const path = join(dir, entry.name)
        // A link to a folder is followed, as the agent does; the depth ends a circle.
        if (entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(path)))) next.push(path)
        else stamps.push(await stampOf(path))
      }
    }
    inside = next
  }
  return stamps
}

const leadsToFolder = async (link: string) => (await stat(link).catch(() => null))?.isDirectory() === true

const IMPORT = /(?:^|\s)@([^\s`]+)/g
const MAX_IMPORTS = 100
const MAX_INSTRUCTIONS_BYTES = 1 << 20

/** Files of instructions may import others, which may import others. */
async function listImported(files: readonly string[]): Promise<string[]> {
  const imported = new Set<string>()
  const queue = [...files]
  for (let file = queue.pop(); file !== undefined && imported.size < MAX_IMPORTS; file = queue.pop()) {
    // Only names are taken from it. It may be anything: a device, or a FIFO that nobody writes.
    const read = await examineUntrusted(file, { maxBytes: MAX_INSTRUCTIONS_BYTES, followLink: true })
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : ''
    for (const [, name = ''] of text.matchAll(IMPORT)) {
      const path = name.startsWith('~/')
        ? join(homedir(), name.slice(2))
        : isAbsolute(name)
          ? name
          : resolve(dirname(file), name)
      if (!imported.has(path)) queue.push(path)
      imported.add(path)
    }
  }
  return [...imported]
}

/** The CLI writes to this file all the time; only its lists of servers matter here. */
async function readServers(env: Env, workDir: string): Promise<string> {
  const file = env.CLAUDE_CONFIG_DIR
    ? join(env.CLAUDE_CONFIG_DIR, '.claude.json')
    : join(env.HOME || homedir(), '.claude.json')
  const value = parse(await readFile(file, 'utf8').catch(() => ''))
  const projects = isRecord(value.projects) ? value.projects : {}
  const project = isRecord(projects[workDir]) ? projects[workDir] : {}
  return JSON.stringify([value.mcpServers ?? {}, project.mcpServers ?? {}])
}

function parse(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** A longer transcript is not searched; its session may have a schedule. */
const MAX_SEARCHED_BYTES = 64 << 20
const PLANNING = ['CronCreate', 'ScheduleWakeup']

/**
 * On resume the CLI restores the tasks that the transcript shows, and it carries out those in the directory's own file.
 * Reprise refuses the tools that plan them, and a call that was refused has planned nothing. But the session may have been
 * used without Reprise.
 */
export async function staysClaudeQuiet(agentSessionId: string, env: Env, workDir: string): Promise<boolean> {
  for (const dir of parentsOf(workDir)) if ((await stampOf(join(dir, SCHEDULE))) !== '') return false
  const files = await locateClaudeSession(agentSessionId, env, workDir)
  const found = files && (await stat(files.transcript).catch(() => null))
  if (!found) return true
  if (found.size > MAX_SEARCHED_BYTES) return false
  const transcript = await readFile(files.transcript)
  const calls = PLANNING.flatMap((tool) =>
    linesWith(transcript, `"name":"${tool}"`).flatMap((line) =>
      // Other lines list the tools that the model was offered.
      blocksOf(line, 'assistant').filter(({ type, name }) => type === 'tool_use' && name === tool),
    ),
  )
  return calls.every(({ id }) => typeof id === 'string' && wasRefused(transcript, id))
}

/** The result of the call says that it failed. A call without a result may have planned something. */
function wasRefused(transcript: Buffer, toolUseId: string): boolean {
  const results = linesWith(transcript, `"tool_use_id":${JSON.stringify(toolUseId)}`)
    .flatMap((line) => blocksOf(line, 'user'))
    .filter((block) => block.type === 'tool_result' && block.tool_use_id === toolUseId)
  return results.length > 0 && results.every(({ is_error: isError }) => isError === true)
}

function linesWith(transcript: Buffer, text: string): string[] {
  const lines: string[] = []
  for (let at = transcript.indexOf(text); at !== -1; ) {
    const newline = transcript.indexOf(0x0a, at)
    const end = newline === -1 ? transcript.length : newline
    lines.push(transcript.toString('utf8', transcript.lastIndexOf(0x0a, at) + 1, end))
    at = transcript.indexOf(text, end)
  }
  return lines
}

/** The blocks of the message that the line records, if it is one of this kind. */
function blocksOf(line: string, kind: 'assistant' | 'user'): Json[] {
  const { type, message } = parse(line)
  const content = type === kind && isRecord(message) && Array.isArray(message.content) ? message.content : []
  return content.filter(isRecord)
}
