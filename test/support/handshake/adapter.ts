/** An adapter for agent.mjs, made for tests: it shares nothing with Claude Code's but the interface. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { AgentAdapter, Env, Exit } from '../../../src/agents/adapter.ts'
import type { ConfiguredAgent } from '../../../src/agents/registry.ts'
import type { Outcome } from '../../../src/contract/outcome.ts'
import { FIRST_REQUEST, HandshakeProtocol, type HandshakeSeed, promptRequest, request } from './protocol.ts'
import { describeHandshakeTool } from './tools.ts'

const sessionFile = (env: Env, id: string) => join(env.HANDSHAKE_DIR ?? '', 'sessions', id)
const readSession = (env: Env, id: string) => readFile(sessionFile(env, id), 'utf8').catch(() => null)

function classify({ stopCause, turnEnd, exitCode }: Exit): Outcome {
  if (stopCause === 'cancelled') return { name: 'cancelled', message: 'cancelled' }
  return turnEnd?.outcome ?? { name: 'crashed', message: `exited with ${exitCode} in the middle of its turn` }
}

export const handshakeAdapter: AgentAdapter = {
  name: 'handshake',
  commands: ['handshake-agent'],
  installHint: 'It is made for tests.',
  envPrefixes: ['HANDSHAKE_'],
  envStripped: [],
  envFixed: {},
  compactPrompt: null,
  pricing: { output: 4, cacheWrite: 1, cacheRead: 0.5, cacheTtlMs: 60_000 },
  lingerMs: 0,
  simulate: () => null,
  probe: async () => ({
    version: '1.0.0',
    capabilities: {
      resume: true,
      sessionId: false,
      fork: false,
      partialMessages: false,
      permissionPrompt: true,
      budget: false,
      structuredOutput: false,
      toolChoice: false,
      sealing: false,
    },
  }),
  hasCredentials: async () => true,
  account: () => ({
    baseUrl: 'http://127.0.0.1',
    baseUrlSetting: 'none',
    connectsTo: null,
    identity: 'handshake',
  }),
  plan: ({ decision, promptId, prompt }) => {
    const seed: HandshakeSeed = {
      sessionId: decision.kind === 'resume' ? decision.agentSessionId : null,
      promptId,
      prompt: prompt?.join('\n') ?? '',
    }
    return { args: [], input: [FIRST_REQUEST], seed }
  },
  output: { stateful: true, createProtocol: (seed) => new HandshakeProtocol(seed) },
  prompt: (promptId, texts, { agentSessionId }) => promptRequest(agentSessionId, promptId, texts.join('\n')),
  waiting: null,
  describeTool: describeHandshakeTool,
  readScheduling: () => null,
  classify,
  answer: ({ requestId }, { decision }) => ({
    id: `answer-${requestId}`,
    line: JSON.stringify({ jsonrpc: '2.0', id: Number(requestId), result: { outcome: decision } }),
  }),
  reminder: null,
  farewell: (cause, { agentSessionId: sessionId }) =>
    cause === 'cancelled'
      ? { messages: [request('cancel', 'session/cancel', { sessionId })], closeInput: false }
      : { messages: [], closeInput: cause === 'done' },
  locateSession: async (id, env) =>
    (await readSession(env, id)) === null ? null : { transcript: sessionFile(env, id), folder: null },
  placeSession: (id, env) => ({ transcript: sessionFile(env, id), folder: null }),
  inspectTranscript: async (id, env, { messageId }) => {
    const text = await readSession(env, id)
    return {
      state: text === null ? 'missing' : 'present',
      path: text === null ? null : sessionFile(env, id),
      bytes: text?.length ?? null,
      hasMessage: typeof messageId === 'string' && (text?.includes(`"messageId":"${messageId}"`) ?? false),
      outside: [],
    }
  },
  mendTranscript: async () => null,
  copies: null,
  ownFiles: () => [],
  findHolders: async () => [],
  enclose: null,
  existing: null,
}

/** As the configuration would define it. */
export const handshakeAgent = (dir: string, env: Env): ConfiguredAgent => ({
  name: 'handshake',
  adapter: handshakeAdapter,
  command: resolve(import.meta.dirname, 'agent.mjs'),
  env: { ...env, HANDSHAKE_DIR: dir },
  model: null,
  args: [],
  simulated: false,
})
