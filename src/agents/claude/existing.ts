/**
 * Finds the sessions that exist in the CLI's files, and says what they are about from the beginning and the end of each
 * file: a thousand sessions of any size are listed in about the time that it takes to open the files.
 */
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { ExistingSessions, SessionFile, SessionPeek } from '../existing-sessions.ts'
import { configDirOf } from './config-dir.ts'
import { readClaudeTurns } from './history.ts'
import { belongsTo, ownerOf } from './locate.ts'
import { parseRecord } from './transcript-lines.ts'
import { questionText, timeOf } from './turn-records.ts'
import { isRecord, type Json } from './wire.ts'

const SUFFIX = '.jsonl'
/** The first question is usually in the first lines; one with a long pasted text may need the larger piece. */
const HEADS = [1 << 16, 1 << 20]
const TAIL = 1 << 16
const PROMPT_CHARS = 300

export const claudeSessions: ExistingSessions = {
  find: findClaudeSessions,
  peek: peekClaudeSession,
  readTurns: ({ path }, limits) => readClaudeTurns(path, limits),
}

async function findClaudeSessions(
  env: Readonly<Record<string, string>>,
  workDir: string | null,
): Promise<SessionFile[]> {
  const projects = join(configDirOf(env), 'projects')
  const slugs = (await list(projects)).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const files: SessionFile[] = []
  for (const slug of slugs) {
    if (workDir !== null && !belongsTo(slug, workDir)) continue
    for (const entry of await list(join(projects, slug))) {
      if (!entry.isFile() || !entry.name.endsWith(SUFFIX)) continue
      const path = join(projects, slug, entry.name)
      const found = await lstat(path).catch(() => null)
      if (!found) continue
      const agentSessionId = basename(entry.name, SUFFIX)
      const { size: bytes, mtime: modifiedAt } = found
      files.push({ agentSessionId, path, bytes, modifiedAt, privateTo: ownerOf(slug) })
    }
  }
  return files
}

const list = (dir: string): Promise<Dirent[]> => readdir(dir, { withFileTypes: true }).catch(() => [])

async function peekClaudeSession({ path, agentSessionId }: SessionFile): Promise<SessionPeek> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const { size } = await file.stat()
    let head = new Head()
    for (const bytes of HEADS) {
      head = new Head()
      const text = await read(file, 0, Math.min(bytes, size))
      for (const line of text.split('\n').slice(0, bytes < size ? -1 : undefined)) head.read(line)
      if (head.firstPrompt !== null || bytes >= size) break
    }
    const from = Math.max(0, size - TAIL)
    // The first line of the tail is cut off, unless the tail is the whole file.
    const tail = new Tail()
    for (const line of (await read(file, from, size - from)).split('\n').slice(from > 0 ? 1 : 0))
      tail.read(line)
    const isWhole = size <= (HEADS.at(-1) ?? 0)
    return {
      problem: agentSessionId.startsWith('agent-') ? 'sub-agent' : head.problem(isWhole, size),
      workDir: head.workDir ?? tail.workDir,
      firstPrompt: head.firstPrompt,
      startedAt: head.startedAt,
      version: tail.version,
      contextTokens: tail.contextTokens,
      stopReason: tail.stopReason,
    }
  } finally {
    await file.close()
  }
}

async function read(file: FileHandle, from: number, bytes: number): Promise<string> {
  const buffer = Buffer.alloc(bytes)
  const { bytesRead } = await file.read(buffer, 0, bytes, from)
  return buffer.toString('utf8', 0, bytesRead)
}

class Head {
  workDir: string | null = null
  firstPrompt: string | null = null
  startedAt: Date | null = null
  #records = 0
  #summaries = 0
  #messages = 0
  #ofSubAgents = 0

  read(line: string): void {
    if (this.firstPrompt !== null) return
    const record = parseRecord(line)
    if (!record) return
    this.#records++
    if (record.type === 'summary') this.#summaries++
    if (this.workDir === null && typeof record.cwd === 'string') this.workDir = record.cwd
    this.startedAt ??= timeOf(record)
    if (!isMessage(record)) return
    this.#messages++
    if (record.isSidechain === true) {
      this.#ofSubAgents++
      return
    }
    const text = record.type === 'user' ? questionText(record) : null
    if (text !== null) this.firstPrompt = text.trim().slice(0, PROMPT_CHARS)
  }

  problem(isWhole: boolean, bytes: number): SessionPeek['problem'] {
    if (this.firstPrompt !== null) return null
    if (bytes === 0) return 'empty'
    if (this.#messages > 0 && this.#ofSubAgents === this.#messages) return 'sub-agent'
    if (!isWhole) return null
    if (this.#records === 0) return 'damaged'
    return this.#summaries > 0 && this.#messages === 0 ? 'summary-only' : 'empty'
  }
}

class Tail {
  workDir: string | null = null
  version: string | null = null
  contextTokens: number | null = null
  stopReason: string | null = null

  read(line: string): void {
    const record = parseRecord(line)
    if (!record || record.isSidechain === true) return
    if (this.workDir === null && typeof record.cwd === 'string') this.workDir = record.cwd
    if (typeof record.version === 'string') this.version = record.version
    if (record.type !== 'assistant' || !isMessage(record)) return
    const { usage, stop_reason, model } = record.message
    if (model === '<synthetic>') return
    if (isRecord(usage)) this.contextTokens = FILLING.reduce((sum, name) => sum + numberOf(usage[name]), 0)
    this.stopReason = typeof stop_reason === 'string' ? stop_reason : null
  }
}

const FILLING = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0)

const isMessage = (record: Json): record is Json & { message: Json } =>
  (record.type === 'user' || record.type === 'assistant') && isRecord(record.message)
