/**
 * What Reprise must know about one coding agent: the only place for the names of its tools, flags, models and status
 * codes. Adapters are thin and pure where they can be: `plan`, `output`, `classify`, `answer`, `farewell` and
 * `describeTool` neither read nor write anything. Only `probe` and what is about the session's files touch the machine,
 * and except for `mendTranscript` they only read. Starting, feeding, watching and ending processes is done once for all
 * of them, in process/. How to write one: docs/agents/README.md.
 */
import type { Capabilities } from '../contract/agent.ts'
import type { EventOf } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { PermissionMode, ToolResult } from '../contract/run.ts'
import type { ToolDescription } from '../contract/tool.ts'
import type { Pricing } from '../core/cost/pricing.ts'
import type { ResumeDecision } from '../core/resume/decide.ts'
import type { SchedulingCall } from '../core/schedule/call.ts'
import type { Message, OutputReader, ProtocolSeed } from './protocol.ts'
import type {
  Mended,
  SessionFiles,
  SessionHolder,
  TranscriptFacts,
  TranscriptQuery,
} from './session-files.ts'

export type Env = Readonly<Record<string, string>>

/** What an executable says about itself. */
export interface Probe {
  version: string
  capabilities: Capabilities
}

/** An agent's resolved executable. */
export interface Runtime extends Probe {
  /** What is started: the file itself, links followed. */
  path: string
  /** As it was found, links not followed: installers put each version into a folder of its own. */
  command: string
  /** The fingerprint: command and capabilities. An upgrade in place keeps it. */
  runtimeId: string
}

export interface Account {
  /** Where the requests go, without credentials, and what that can be set by. */
  baseUrl: string
  baseUrlSetting: string
  /** Where a connection can be tried; null: that is not known, or it goes through a proxy. */
  connectsTo: string | null
  /** Tells accounts apart. It is hashed before it is kept: it may hold a key. */
  identity: string
}

export interface PlanInput {
  runtime: Probe
  decision: ResumeDecision
  /** The id of the session: pre-assigned for a fresh one, the one to resume otherwise. */
  agentSessionId: string
  /** A UUID of ours for the prompt, by which it can be found in the transcript. */
  promptId: string
  /** The texts of the prompt, in order. The last one is the user's own: a command of the agent is one only there. */
  prompt: readonly string[]
  model: string | null
  permissions: PermissionMode
  /** We are to be asked before every tool call, whatever the agent may do by itself. */
  gated: boolean
  maxTurns: number | null
  maxBudgetUsd: number | null
  extraArgs: readonly string[]
  /** Set only for runs at a tier. */
  tier: TierPlan | null
}

export interface TierPlan {
  tools: readonly string[]
  /** Of what is to be reported at the end, for agents that take one. */
  schema: Record<string, unknown> | null
}

/** How to start the agent. Nothing a user wrote is in `args`; it goes through stdin. */
export interface Plan {
  args: readonly string[]
  /** Lines for stdin, in order. The process gets them whether or not we are still alive. */
  input: readonly Message[]
  /** What `createProtocol` is given, for adapters that keep protocol state. JSON; stored beside the spool. */
  seed?: ProtocolSeed
}

/** The session that a message is for. */
export interface Addressee {
  /** As the agent itself last named it. */
  agentSessionId: string
}

/** `pass`: we have nothing against it; the agent decides as it would have without asking. */
export type ToolAnswer =
  | Omit<ToolResult, 'toolUseId'>
  | { decision: 'pass'; message?: undefined; answers?: undefined }

/** What is known about how a process ended, in the order in which it should be believed. */
export interface Exit {
  /** Why we ended it, if we did. */
  stopCause: StopCause | null
  /** The last `turn-end` of the process. */
  turnEnd: EventOf<'turn-end'> | null
  /** When the limit it ran into resets, and what it is about, if it said so. */
  resetsAt: string | null
  limitScope?: Outcome['scope'] | undefined
  exitCode: number | null
  /** The end of its stderr. */
  stderr: string
}

export type StopCause =
  | 'unauthorized'
  | 'cancelled'
  | 'timed-out'
  | 'silent'
  | 'output-limit'
  | 'question-timeout'
  | 'question-edited'
  | 'hung-after-result'
  | 'budget'
  | 'rate-limited'
  | 'session-conflict'
  | 'outage'

export interface AgentAdapter {
  name: string
  /** Names to look for on PATH when none is configured. */
  commands: readonly string[]
  /** What to do where none of them is found. */
  installHint: string
  /** Environment variables, by prefix, that are the vendor's and may be passed on. */
  envPrefixes: readonly string[]
  /** Variables an outer agent of the same kind leaves behind; never passed on. */
  envStripped: readonly string[]
  /** Variables set for every process. */
  envFixed: Env
  /** The prompt that makes the agent compact a resumed session in place; null: it cannot be asked to. */
  compactPrompt: string | null
  /** In which proportions its vendor charges, and how long it keeps a prompt cache. */
  pricing: Pricing
  /**
   * How long after its last sub-agent in the background has ended it may take to begin a turn with the result. 0: it has
   * none that outlast a turn.
   */
  lingerMs: number
  /** The environment with which it talks to the simulator and keeps its files in `configDir`; null: it cannot. */
  simulate: (env: Env, simulatorUrl: string, configDir: string) => Env | null
  probe: (path: string, env: Env) => Promise<Probe>
  hasCredentials: (env: Env) => Promise<boolean>
  /** Whose account is used, and where. Two agents with the same account run into the same limits. */
  account: (env: Env) => Account
  plan: (input: PlanInput) => Plan
  /** A further message to a process that has ended its turn and waits. */
  prompt: (promptId: string, texts: readonly string[], to: Addressee) => Message
  /** What a tool call does, in neutral words. Also asked with an empty input, for the kind of tool alone. */
  describeTool: (name: string, input: unknown) => ToolDescription
  /** What a call of the agent's own scheduling tools asks for; null: the tool is no such tool. We are asked about each. */
  readScheduling: (tool: string, input: unknown) => SchedulingCall | null
  /**
   * A line for which there is no event becomes one `native` event that leaves out nothing, a line that is not in the
   * agent's format a `raw-line`. Tool calls carry what `describeTool` says of them.
   */
  output: OutputReader
  classify: (exit: Exit) => Outcome
  /** The message that answers what the agent asked. */
  answer: (ask: EventOf<'permission-ask'> | EventOf<'question-ask'>, answer: ToolAnswer) => Message
  /** What to say to the agent before it is ended: after its turn (`done`), or instead of going on. */
  farewell: (
    cause: StopCause | 'done',
    to: Addressee,
  ) => { messages: readonly Message[]; closeInput: boolean }
  locateSession: (agentSessionId: string, env: Env, workDir: string) => Promise<SessionFiles | null>
  /** Where its files would be looked for, if it has none. null: the id cannot be one of its own. */
  placeSession: (agentSessionId: string, env: Env, workDir: string) => SessionFiles | null
  inspectTranscript: (agentSessionId: string, env: Env, query: TranscriptQuery) => Promise<TranscriptFacts>
  /**
   * Cuts off a torn end. Only for who has the session's lease, while nobody else holds it. The file as it was is
   * kept under `keepAs` first. null: nothing to mend.
   */
  mendTranscript: (path: string, keepAs: string) => Promise<Mended | null>
  /** Files of its own set-up, with which it could give itself more rights. */
  ownFiles: (env: Env) => readonly string[]
  /** The live processes that have the session open, ours among them. */
  findHolders: (agentSessionId: string, env: Env) => Promise<SessionHolder[]>
}
