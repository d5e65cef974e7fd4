/** The adapter of the agents that live in memory. A line that they print is an event as JSON, one that they read an InputLine. */
import type { AgentAdapter, Exit, StopCause } from '../../../src/agents/adapter.ts'
import { readClaudeDirectory } from '../../../src/agents/claude/directory.ts'
import type { Message } from '../../../src/agents/protocol.ts'
import type { Capabilities } from '../../../src/contract/agent.ts'
import { EventBody } from '../../../src/contract/events.ts'
import type { Outcome } from '../../../src/contract/outcome.ts'
import type { ToolDescription } from '../../../src/contract/tool.ts'
import { readMemoryMessage } from './message.ts'
import type { InputLine, Start } from './script.ts'
import type { MemoryTranscripts } from './transcripts.ts'

export const ALL_CAPABILITIES: Capabilities = {
  resume: true,
  sessionId: true,
  fork: true,
  partialMessages: true,
  permissionPrompt: true,
  budget: true,
  structuredOutput: true,
  toolChoice: true,
  sealing: true,
}

/** The rules of a tier know the second one by name. */
const SCHEDULING_TOOLS = ['Later', 'ScheduleWakeup']

const toMessage = (id: string, line: InputLine): Message => ({ id, line: JSON.stringify(line) })

/** How attempts end that were stopped. */
const STOPPED: Partial<Record<StopCause, Outcome['name']>> = {
  cancelled: 'cancelled',
  'question-edited': 'cancelled',
  'timed-out': 'timed-out',
  silent: 'timed-out',
  'output-limit': 'output-limit',
  'question-timeout': 'question-timeout',
  budget: 'budget',
  'session-conflict': 'session-busy',
  'rate-limited': 'rate-limited',
  outage: 'outage',
  'disk-full': 'crashed',
  unauthorized: 'auth',
}

function classify({ stopCause, turnEnd, exitCode, stderr, resetsAt }: Exit): Outcome {
  const stopped = stopCause === null ? undefined : STOPPED[stopCause]
  // A turn that has ended stays completed, unless somebody wants it to be cancelled.
  if (stopped && (stopped === 'cancelled' || turnEnd?.outcome.name !== 'completed'))
    return { name: stopped, message: `was ${stopCause}` }
  if (turnEnd) return resetsAt === null ? turnEnd.outcome : { ...turnEnd.outcome, resetsAt }
  return { name: 'crashed', message: exitCode === null ? 'was killed' : `exited with ${exitCode}${stderr}` }
}

/** Tools are told apart by what they are called with. */
function describeTool(_name: string, input: unknown): ToolDescription {
  if (typeof input !== 'object' || input === null) return { kind: 'other' }
  if ('command' in input) return { kind: 'shell', command: String(input.command) }
  if ('content' in input && 'file_path' in input) return { kind: 'write', paths: [String(input.file_path)] }
  if ('questions' in input && Array.isArray(input.questions))
    return { kind: 'question', questions: input.questions.map(String) }
  return { kind: 'other' }
}

function parseLine(line: string): EventBody[] {
  try {
    const event = EventBody.parse(JSON.parse(line))
    if (event.type === 'tool-start') return [{ ...event, ...describeTool(event.name, event.input) }]
    return [event.type === 'permission-ask' ? { ...event, ...describeTool(event.tool, event.input) } : event]
  } catch {
    return [{ type: 'raw-line', text: line }]
  }
}

export interface MemoryAdapterInput {
  transcripts: MemoryTranscripts
  capabilities?: Partial<Capabilities>
  name?: string
}

export function createMemoryAdapter({
  transcripts,
  capabilities,
  name = 'memory',
}: MemoryAdapterInput): AgentAdapter {
  return {
    name,
    commands: [],
    installHint: 'It is always there.',
    envPrefixes: [],
    envStripped: [],
    envFixed: {},
    compactPrompt: '/make-room',
    pricing: { output: 5, cacheWrite: 1, cacheRead: 0.1, cacheTtlMs: 60_000 },
    lingerMs: 0,
    simulate: () => null,
    probe: async () => ({ version: '1.0.0', capabilities: { ...ALL_CAPABILITIES, ...capabilities } }),
    hasCredentials: async () => true,
    account: () => ({ baseUrl: 'memory:', baseUrlSetting: 'none', connectsTo: null, identity: name }),
    // Directories are read as for Claude Code, whose rules are the most complicated.
    readDirectory: (workDir) => readClaudeDirectory(workDir, { CLAUDE_CONFIG_DIR: '/nowhere' }),
    plan: ({ runtime: _, decision, ...input }) => {
      const start: Start = { ...input, prompt: input.prompt ?? [], resume: decision.kind === 'resume' }
      const { promptId: id, prompt: texts } = input
      const prompts = texts === null ? [] : [toMessage(id, { type: 'prompt', id, texts })]
      return { args: [JSON.stringify(start)], input: prompts }
    },
    waiting: {
      readStartFiles: async () => transcripts.startFiles,
      staysQuiet: async () => transcripts.quiet,
    },
    // The agent `other` reads its input only between turns.
    ...(name === 'other' ? {} : { takesMessages: true }),
    prompt: (id, texts) => toMessage(id, { type: 'prompt', id, texts }),
    describeTool,
    readScheduling: (tool, input) => {
      if (!SCHEDULING_TOOLS.includes(tool) || typeof input !== 'object' || input === null) return null
      if (!('prompt' in input) || typeof input.prompt !== 'string' || !('inMs' in input))
        return { kind: 'unclear', problem: 'expected prompt and inMs' }
      return { kind: 'create', prompt: input.prompt, reason: null, when: { inMs: Number(input.inMs) } }
    },
    output: { stateful: false, parseLine },
    readMessage: readMemoryMessage,
    classify,
    answer: ({ requestId }, answer) =>
      toMessage(`answer-${requestId}`, { type: 'answer', requestId, answer }),
    reminder: {
      maxChars: 10_000,
      answer: ({ requestId }, texts) =>
        toMessage(`answer-${requestId}`, { type: 'reminder', requestId, texts }),
    },
    farewell: (cause) => ({
      messages: cause === 'done' ? [] : [toMessage('stop', { type: 'stop', cause })],
      closeInput: true,
    }),
    locateSession: async () => null,
    placeSession: () => null,
    inspectTranscript: async (id, _env, query) => transcripts.inspect(id, query),
    mendTranscript: async (path, keepAs) => transcripts.mend(path, keepAs),
    copies: null,
    ownFiles: () => [],
    findHolders: async (id) => transcripts.holders(id),
    enclose: null,
    existing: null,
  }
}
