/**
 * What a process of Claude Code that waits for another turn does not notice, or does by itself.
 *
 * It reads settings, instructions, agents, commands, skills and the list of MCP servers when it starts. And its scheduler
 * carries out the tasks that the session or the directory has.
 */
import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Env } from '../adapter.ts'
import { configDirOf } from './config-dir.ts'
import { locateClaudeSession } from './locate.ts'
import { isRecord } from './wire.ts'

const MANAGED = '/etc/claude-code'
const INSTRUCTIONS = ['CLAUDE.md', 'CLAUDE.local.md']
const SETTINGS = ['settings.json', 'settings.local.json']
const FOLDERS = ['agents', 'commands', 'skills', 'rules', 'output-styles', 'plugins']
const SCHEDULE = join('.claude', 'scheduled_tasks.json')

export async function readClaudeStartFiles(env: Env, workDir: string): Promise<string> {
  const config = configDirOf(env)
  const upwards = parentsOf(workDir)
  const files = [
    ...[config, MANAGED].flatMap((dir) => inDir(dir, [...INSTRUCTIONS, ...SETTINGS])),
    ...inDir(MANAGED, ['managed-settings.json', 'managed-mcp.json']),
    ...upwards.flatMap((dir) => inDir(dir, [...INSTRUCTIONS, '.mcp.json', SCHEDULE])),
    ...upwards.flatMap((dir) => inDir(join(dir, '.claude'), [...INSTRUCTIONS, ...SETTINGS])),
  ]
  const folders = [config, ...upwards.map((dir) => join(dir, '.claude'))].flatMap((dir) => inDir(dir, FOLDERS))
  const imported = await listImported(files.filter((file) => file.endsWith('.md')))
  const found = [
    ...(await Promise.all([...files, ...imported].map(stampOf))),
    ...(await Promise.all(folders.map((folder) => stampsIn(folder, MAX_DEPTH)))).flat(),
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

async function stampsIn(dir: string, depth: number): Promise<string[]> {
  const entries: Dirent[] = await readdir(dir, { withFileTypes: true }).catch(() => [])
  const stamps = entries.map(async (entry) => {
    const path = join(dir, entry.name)
    return entry.isDirectory() && depth > 0 ? stampsIn(path, depth - 1) : [await stampOf(path)]
  })
  return (await Promise.all(stamps)).flat()
}

const IMPORT = /(?:^|\s)@([^\s`]+)/g
const MAX_IMPORTS = 100

/** Files of instructions may import others, which may import others. */
async function listImported(files: readonly string[]): Promise<string[]> {
  const imported = new Set<string>()
  const queue = [...files]
  for (let file = queue.pop(); file !== undefined && imported.size < MAX_IMPORTS; file = queue.pop()) {
    const text = await readFile(file, 'utf8').catch(() => '')
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
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    const projects = isRecord(value) && isRecord(value.projects) ? value.projects : {}
    const project = isRecord(projects[workDir]) ? projects[workDir] : {}
    return JSON.stringify([isRecord(value) ? value.mcpServers : null, project.mcpServers])
  } catch {
    return ''
  }
}

/** A longer transcript is not searched; its session may have a schedule. */
const MAX_SEARCHED_BYTES = 64 << 20
const PLANNING = ['"name":"CronCreate"', '"name":"ScheduleWakeup"']

/**
 * On resume the CLI restores the tasks that the transcript shows, and it carries out those in the directory's own file.
 * Reprise refuses the tools that plan them, but the session may have been used without Reprise.
 */
export async function staysClaudeQuiet(agentSessionId: string, env: Env, workDir: string): Promise<boolean> {
  for (const dir of parentsOf(workDir)) if ((await stampOf(join(dir, SCHEDULE))) !== '') return false
  const files = await locateClaudeSession(agentSessionId, env, workDir)
  const found = files && (await stat(files.transcript).catch(() => null))
  if (!found) return true
  if (found.size > MAX_SEARCHED_BYTES) return false
  const transcript = await readFile(files.transcript)
  return !PLANNING.some((planning) => transcript.includes(planning))
}
