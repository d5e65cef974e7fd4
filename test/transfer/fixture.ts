/** Sessions of Claude Code on disk, and the parts of an engine that import, export and copy them. No processes. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Runtime } from '../../src/agents/adapter.ts'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import type { ConfiguredAgent } from '../../src/agents/registry.ts'
import type { Capabilities } from '../../src/contract/agent.ts'
import { SessionId } from '../../src/contract/ids.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import { NOTHING_TO_REDACT, type Redactor } from '../../src/core/redact/redactor.ts'
import type { CopiedConversation, CopiedSession } from '../../src/store/conversations/copies.ts'
import type { SessionRecord } from '../../src/store/runs/session-records.ts'

export const NOW = new Date('2026-05-04T03:02:01Z')
export const AGENT_SESSION_ID = '3f0c1e52-5f5e-4c1f-9a56-0a4c2f3f8a11'

const runtime: Runtime = {
  path: '/usr/bin/claude',
  command: '/usr/bin/claude',
  runtimeId: 'rt',
  version: '2.1.325',
  capabilities: { resume: true } as Capabilities,
}

/** A home of an agent and of Reprise, with a store that only remembers. */
export class Home {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-transfer-')))
  readonly workDir = join(this.dir, 'work')
  readonly config = join(this.dir, 'claude')
  readonly added: { sessions: readonly CopiedSession[]; conversation: CopiedConversation | null }[] = []
  readonly sessions: SessionRecord[] = []
  readonly mirrored: SessionId[] = []
  /** Set by a test: the store fails. */
  failure: Error | null = null

  constructor() {
    mkdirSync(this.workDir)
  }

  get agent(): ConfiguredAgent {
    return {
      name: 'claude',
      adapter: claudeAdapter,
      command: null,
      env: { CLAUDE_CONFIG_DIR: this.config },
      model: null,
      args: [],
      simulated: false,
    }
  }

  deps(redactor: Redactor = NOTHING_TO_REDACT) {
    const find = (id: string) =>
      this.sessions.find((session) => session.id === id || session.agentSessionId === id) ?? null
    return {
      redactor,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      mirrors: {
        list: async () => [],
        catchUp: async (id: SessionId) => {
          this.mirrored.push(id)
          return true
        },
      },
      clock: { now: () => NOW, monotonicMs: () => 0 },
      imports: join(this.dir, 'imports'),
      agents: {
        names: () => ['claude'],
        get: () => this.agent,
        find: () => this.agent,
        runtime: async () => runtime,
      },
      store: {
        findSession: async (id: string) => find(id),
        getSession: async (id: string) => find(id),
        findLeaseHolder: async () => null,
        findConversationOf: async () => null,
        getConversation: async () => null,
        getPin: async () => null,
        listMessages: async () => [],
        getRun: async () => null,
        listAttempts: async () => [],
        addCopies: async (sessions: readonly CopiedSession[], conversation: CopiedConversation | null) => {
          if (this.failure) throw this.failure
          this.added.push({ sessions, conversation })
          this.sessions.push(...sessions.map(({ session }) => session as SessionRecord))
        },
      },
    }
  }

  /** Writes a session as the CLI would, with these turns, and returns its record. */
  addSession(
    turns: readonly { question: string; answer: string }[],
    files: Record<string, string> = {},
  ): SessionRecord {
    const place = claudeAdapter.placeSession(AGENT_SESSION_ID, this.agent.env, this.workDir)!
    mkdirSync(dirname(place.transcript), { recursive: true })
    writeFileSync(place.transcript, transcript(turns))
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(place.folder!, name)), { recursive: true })
      writeFileSync(join(place.folder!, name), content)
    }
    const session: SessionRecord = {
      id: SessionId.create(NOW),
      agent: 'claude',
      agentSessionId: AGENT_SESSION_ID,
      workDir: this.workDir,
      workDirId: null,
      runtimeId: 'rt',
      runtime: { id: 'rt', command: '/usr/bin/claude', version: '2.1.325', can: ['resume'] },
      epoch: 0,
      continues: null,
      poison: null,
      told: 'none',
      compacted: false,
      cacheState: null,
      turns: turns.length,
      resumes: 0,
      contextTokens: 100,
      contextWindow: 1000,
      costUsd: 0.5,
      state: 'paused',
      stateAt: NOW,
      messages: turns.length * 2,
      usage: NO_USAGE,
      stopReason: null,
      finished: true,
      archivedAt: null,
      adopted: false,
      createdAt: NOW,
      lastUsedAt: NOW,
    }
    this.sessions.push(session)
    return session
  }

  /** All files of the agent, and what imports have left, with paths relative to this home. */
  files(): string[] {
    return readdirSync(this.dir, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.dir.length + 1))
      .sort()
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export const questionId = (turn: number) => `00000000-0000-4000-8000-${String(turn * 2).padStart(12, '0')}`
export const answerId = (turn: number) => `00000000-0000-4000-8000-${String(turn * 2 + 1).padStart(12, '0')}`

/** Lines in the form of the CLI's own. */
export function transcript(
  turns: readonly { question: string; answer: string }[],
  sessionId = AGENT_SESSION_ID,
): string {
  const lines = turns.flatMap(({ question, answer }, turn) => [
    { type: 'queue-operation', operation: 'enqueue', sessionId, content: question },
    {
      parentUuid: turn === 0 ? null : answerId(turn - 1),
      isSidechain: false,
      type: 'user',
      message: { role: 'user', content: question },
      uuid: questionId(turn),
      timestamp: NOW.toISOString(),
      turnOrigin: 'sdk',
      sessionId,
    },
    {
      parentUuid: questionId(turn),
      isSidechain: false,
      type: 'assistant',
      message: {
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: answer }],
        usage: { input_tokens: 10 * (turn + 1), output_tokens: 1 },
      },
      uuid: answerId(turn),
      timestamp: NOW.toISOString(),
      sessionId,
    },
    { type: 'cost-state', sessionId, totalCostUSD: (turn + 1) / 10 },
  ])
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
