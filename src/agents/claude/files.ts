/**
 * Where Claude Code keeps its sessions: `<config dir>/projects/<slug of the directory>/<session id>.jsonl`, and one
 * `<config dir>/sessions/<pid>.json` per live process. Only ever read here.
 *
 * Invariant: an id that is not a UUID never becomes part of a path.
 */
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env, TranscriptFacts } from '../adapter.ts'
import { isRecord } from './wire.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function configDirOf(env: Env): string {
  return env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude')
}

const MISSING: TranscriptFacts = { state: 'missing', path: null, bytes: null, hasMessage: false }

export async function inspectClaudeTranscript(
  sessionId: string,
  env: Env,
  messageId: string | null,
): Promise<TranscriptFacts> {
  const path = await locate(sessionId, env)
  if (!path) return MISSING
  try {
    const { size: bytes } = await stat(path)
    const { hasTurn, hasMessage } = await scan(path, messageId)
    return { state: hasTurn ? 'present' : 'unreadable', path, bytes, hasMessage }
  } catch {
    return { state: 'unreadable', path, bytes: null, hasMessage: false }
  }
}

async function locate(sessionId: string, env: Env): Promise<string | null> {
  if (!UUID.test(sessionId)) return null
  const projects = join(configDirOf(env), 'projects')
  const slugs = await readdir(projects).catch(() => [])
  for (const slug of slugs) {
    const path = join(projects, slug, `${sessionId}.jsonl`)
    if (
      await stat(path).then(
        (s) => s.isFile(),
        () => false,
      )
    )
      return path
  }
  return null
}

/**
 * The CLI takes an empty file or one of garbage for no session at all, and skips lines it cannot read. So a transcript
 * is usable if one line in it is a message. Reads to the end only while looking for `messageId`.
 */
async function scan(
  path: string,
  messageId: string | null,
): Promise<{ hasTurn: boolean; hasMessage: boolean }> {
  const found = { hasTurn: false, hasMessage: false }
  const look = (line: string) => {
    if (!found.hasTurn && isMessage(line)) found.hasTurn = true
    if (messageId && !found.hasMessage && isMessage(line, messageId)) found.hasMessage = true
  }
  let rest = ''
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 })
  for await (const chunk of stream) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) look(line)
    if (found.hasTurn && (messageId === null || found.hasMessage)) return found
  }
  // A killed CLI may leave its last line without a newline; the next one reads it nevertheless.
  look(rest)
  return found
}

function isMessage(line: string, uuid?: string): boolean {
  if (!line.includes(uuid ?? '"type":"user"')) return false
  try {
    const value: unknown = JSON.parse(line)
    return (
      isRecord(value) && value.type === 'user' && isRecord(value.message) && (!uuid || value.uuid === uuid)
    )
  } catch {
    return false
  }
}

/** The pid of a live process that has registered itself for the session. The record outlives a killed process. */
export async function findClaudeHolder(sessionId: string, env: Env): Promise<number | null> {
  const dir = join(configDirOf(env), 'sessions')
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.endsWith('.json')) continue
    const record = await readFile(join(dir, name), 'utf8')
      .then(JSON.parse)
      .catch(() => null)
    if (!isRecord(record) || record.sessionId !== sessionId || typeof record.pid !== 'number') continue
    if (await isSameProcess(record.pid, record.procStart)) return record.pid
  }
  return null
}

async function isSameProcess(pid: number, procStart: unknown): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return false
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie writes nothing any more, and where nobody reaps it, it stays for good.
  return fields[0] !== 'Z' && (typeof procStart !== 'string' || procStart === fields[19])
}

/** Something the CLI could log in with. Whether it is accepted only a request tells. */
export async function hasClaudeCredentials(env: Env): Promise<boolean> {
  const variables = [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
  ]
  if (variables.some((name) => env[name])) return true
  const dir = configDirOf(env)
  if (
    await stat(join(dir, '.credentials.json')).then(
      () => true,
      () => false,
    )
  )
    return true
  const settings = await readFile(join(dir, 'settings.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => null)
  return isRecord(settings) && typeof settings.apiKeyHelper === 'string'
}
