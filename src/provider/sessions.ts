/**
 * The provider's record of its sessions: a summary in memory, and `agent-sessions/<id>/session.json` for people and
 * other programs. The file is written from the store after each query and replaced as a whole; Reprise never reads it.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { QuerySession } from '../contract/query.ts'
import { AGENT_SESSIONS, storedSessionDir } from '../engine/queries/stored-session.ts'
import { type PersistedSession, toMessage } from './history.ts'
import type { ProviderMessage } from './message.ts'

export interface SessionState {
  sessionId: string
  model: string
  cwd: string
  createdAt: Date
  lastMessageAt: Date
  messageCount: number
}

export class ProviderSessions {
  readonly states = new Map<string, SessionState>()
  readonly #dir: string
  #writes = 0

  constructor(dataDir: string) {
    this.#dir = join(dataDir, AGENT_SESSIONS)
  }

  note(message: ProviderMessage): void {
    const now = new Date()
    const { session_id: sessionId } = message
    if (message.type === 'system' && message.subtype === 'init') {
      const known = this.states.get(sessionId)
      const { model, cwd } = message
      this.states.set(sessionId, {
        sessionId,
        model: String(model),
        cwd: String(cwd),
        createdAt: known?.createdAt ?? now,
        lastMessageAt: now,
        messageCount: known?.messageCount ?? 0,
      })
    }
    const state = this.states.get(sessionId)
    if (!state || (message.type !== 'assistant' && message.type !== 'user')) return
    state.lastMessageAt = now
    state.messageCount++
  }

  async write({ metadata, messages }: QuerySession): Promise<void> {
    const { id } = metadata
    const session: PersistedSession = { id, metadata, messages: messages.map(toMessage) }
    const dir = storedSessionDir(this.#dir, session.id)
    if (dir === null) return
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const file = join(dir, 'session.json')
    const draft = `${file}.${process.pid}-${++this.#writes}`
    try {
      await writeFile(draft, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 })
      await rename(draft, file)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }
}
