/**
 * What Reprise must know about one coding agent: the only place for the names of its tools, flags, models and status
 * codes. Adapters are thin, and pure where possible: `plan`, `output`, `classify`, `answer`, `farewell` and
 * `describeTool` neither read nor write anything. Only `probe` and the functions about session files access the
 * machine, and except for `mendTranscript` and `enclose` they only read. process/ starts, feeds, watches and ends the processes of
 * all agents. docs/agents/README.md explains how to write an adapter.
 */
import type { Capabilities } from '../contract/agent.ts'
import type { PermissionMode } from '../contract/create-run.ts'
import type { EventOf } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { ToolResult } from '../contract/question.ts'
import type { ToolDescription } from '../contract/tool.ts'
import type { Pricing } from '../core/cost/pricing.ts'
import type { ResumeDecision } from '../core/resume/decide.ts'
import type { SchedulingCall } from '../core/schedule/call.ts'
import type { DirectoryContent, DirectoryPlan } from './directory-content.ts'
import type { EncloseInput, Enclosure } from './enclosure.ts'
import type { ExistingSessions } from './existing-sessions.ts'
import type { Message, OutputReader, ProtocolSeed } from './protocol.ts'
import type { SessionCopies } from './session-copies.ts'
import type {
  Mended,
  SessionFiles,
  SessionHolder,
  TranscriptFacts,
  TranscriptQuery,
} from './session-files.ts'

export type Env = Readonly<Record<string, string>>

/** What an executable reports about itself. */
export interface Probe {
  version: string
  capabilities: Capabilities
}

/** An agent's resolved executable. */
export interface Runtime extends Probe {
  /** The file that is started, with symlinks resolved. */
  path: string
  /** The path as it was found, with symlinks unresolved: installers put each version into its own folder. */
  command: string
  /** The fingerprint of command and capabilities. An upgrade in place keeps it. */
  runtimeId: string
}

export interface Account {
  /** The address for requests, without credentials, and the setting that determines it. */
  baseUrl: string
  baseUrlSetting: string
  /** An address at which a connection can be tested; null: not known, or reached through a proxy. */
  connectsTo: string | null
  /** Distinguishes accounts. It is hashed before it is stored, because it may contain a key. */
  identity: string
}

export interface PlanInput {
  runtime: Probe
  decision: ResumeDecision
  /** The agent's session id: pre-assigned for a new session, otherwise that of the session to resume. */
  agentSessionId: string
  /** A UUID that we assign to the prompt, by which it can be found in the transcript. */
  promptId: string
  /**
   * The texts of the prompt, in order. The last one is the user's own: the agent recognises a command only there. null:
   * the process waits for a prompt that is sent later.
   */
  prompt: readonly string[] | null
  model: string | null
  permissions: PermissionMode
  /** The agent must ask Reprise before every tool call, including those that it would allow by itself. */
  gated: boolean
  maxTurns: number | null
  maxBudgetUsd: number | null
  extraArgs: readonly string[]
  /** Whether the settings in the work directory apply. */
  directory: DirectoryPlan
  /** Set only for runs at a tier. */
  tier: TierPlan | null
  /** Set only for queries of a program that embeds Reprise. */
  options?: AgentOptions | null
}

/** The options that a program which embeds Reprise chose for its query, in the agent's own words. The adapter checks nothing. */
export interface AgentOptions {
  /** Replaces the agent's own system prompt, or is added to it (`append`). */
  systemPrompt: { texts: readonly string[]; append: boolean } | null
  allowedTools: readonly string[]
  deniedTools: readonly string[]
  /** Overrides the permissions of the run. */
  permissionMode: string | null
  /** The program answers questions and permission requests. Otherwise the agent is told that nobody does. */
  asks: boolean
}

/** A line of the agent's output, for programs that read the agent's own messages. */
export type OutputMessage =
  /** `partial`: only for programs that want to see an answer while it is being written. */
  | { kind: 'message'; message: NativeMessage; partial?: true }
  /** The agent asks something; `request` is its own form of the question. */
  | { kind: 'ask'; requestId: string; request: Readonly<Record<string, unknown>> }

/** A message in the form of the vendor's SDK. */
export type NativeMessage = Readonly<Record<string, unknown>> & { type: string }

export interface TierPlan {
  tools: readonly string[]
  /** The JSON Schema of the final report, for agents that accept one. */
  schema: Record<string, unknown> | null
}

/** How to start the agent. `args` contains no text of the user; that goes through stdin. */
export interface Plan {
  args: readonly string[]
  /** Lines for stdin, in order. The process gets them even if the daemon dies. */
  input: readonly Message[]
  /** The argument of `createProtocol`, for adapters that keep protocol state. JSON; stored beside the spool. */
  seed?: ProtocolSeed
}

/** The session that a message is for. */
export interface Addressee {
  /** The id that the agent last reported. */
  agentSessionId: string
}

/** `pass`: Reprise does not object; the agent decides as it would have without asking. */
export type ToolAnswer =
  | Omit<ToolResult, 'toolUseId'>
  | {
      decision: 'pass'
      message?: undefined
      answers?: undefined
      updatedInput?: undefined
      native?: undefined
    }

/** The facts about how a process ended, the most reliable first. */
export interface Exit {
  /** Why Reprise ended the process, if it did. */
  stopCause: StopCause | null
  /** The last `turn-end` of the process. */
  turnEnd: EventOf<'turn-end'> | null
  /** When the limit that was reached resets, and its scope, if the agent reported them. */
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
  | 'disk-full'
  | 'outage'

/** The facts that Reprise needs about an agent before it keeps its processes between turns. */
export interface WaitingProcesses {
  /** A fingerprint of the files that the agent reads only when it starts, such as settings and instructions. */
  readStartFiles: (env: Env, workDir: string) => Promise<string>
  /** Whether a waiting process does nothing by itself: the session has no schedule that the agent would carry out. */
  staysQuiet: (agentSessionId: string, env: Env, workDir: string) => Promise<boolean>
}

export interface AgentAdapter {
  name: string
  /** Names to look for on PATH when none is configured. */
  commands: readonly string[]
  /** What to do if none of them is found. */
  installHint: string
  /** Prefixes of the vendor's environment variables, which may be passed on. */
  envPrefixes: readonly string[]
  /** Variables that an outer agent of the same kind sets; never passed on. */
  envStripped: readonly string[]
  /** Variables set for every process. */
  envFixed: Env
  /** The prompt that makes the agent compact a resumed session in place; null: not supported. */
  compactPrompt: string | null
  /** The proportions of the vendor's prices, and how long it keeps a prompt cache. */
  pricing: Pricing
  /**
   * How long the agent may take to begin a turn with the result after its last background sub-agent has ended. 0: no
   * sub-agent outlasts a turn.
   */
  lingerMs: number
  /**
   * The environment with which the agent talks to the simulator and keeps its files in `configDir`; null: not possible.
   */
  simulate: (env: Env, simulatorUrl: string, configDir: string) => Env | null
  probe: (path: string, env: Env) => Promise<Probe>
  hasCredentials: (env: Env) => Promise<boolean>
  /** Identifies the account that is used, and its address. Two agents with the same account share its limits. */
  account: (env: Env) => Account
  /**
   * Reads the files of a work directory that make the agent start programs or skip questions. Absent: the agent obeys nothing
   * there.
   */
  readDirectory?: (workDir: string, env: Env) => Promise<DirectoryContent>
  /** Texts for the model that the agent does not read by itself while the content of the work directory must not apply. */
  readInstructions?: (workDir: string, env: Env) => Promise<string | null>
  plan: (input: PlanInput) => Plan
  /** A further message to a kept process. */
  prompt: (promptId: string, texts: readonly string[], to: Addressee) => Message
  /** The agent takes further messages in the middle of a turn. Absent: it gets them when the turn has ended. */
  takesMessages?: true
  /** null: a process of this agent cannot wait for another turn, so it ends with its turn. */
  waiting: WaitingProcesses | null
  /** Describes a tool call in neutral words. Also called with an empty input, to get the kind of the tool. */
  describeTool: (name: string, input: unknown) => ToolDescription
  /** What a call of the agent's own scheduling tools asks for; null: another tool. Reprise is asked about each call. */
  readScheduling: (tool: string, input: unknown) => SchedulingCall | null
  /**
   * A line without a matching event becomes one `native` event with the whole line, a line that is not in the agent's
   * format a `raw-line`. Tool calls include the result of `describeTool`.
   */
  output: OutputReader
  /**
   * The message of a line in the form of the vendor's SDK; null: the line is not for programs that use the agent. Absent:
   * there is no SDK whose form its lines have.
   */
  readMessage?: (line: string) => OutputMessage | null
  classify: (exit: Exit) => Outcome
  /** The message that answers a question or permission request of the agent. */
  answer: (ask: EventOf<'permission-ask'> | EventOf<'question-ask'>, answer: ToolAnswer) => Message
  /**
   * How the agent is told, in the middle of a turn, what a compaction may have made it forget. It asks (`reminder-ask`) before it
   * reports the `compaction`. null: it cannot be told before its next message.
   */
  reminder: {
    maxChars: number
    answer: (ask: EventOf<'reminder-ask'>, texts: readonly string[]) => Message
  } | null
  /** The shutdown messages for the agent before it is ended: after its turn (`done`), or in the middle of it. */
  farewell: (
    cause: StopCause | 'done',
    to: Addressee,
  ) => { messages: readonly Message[]; closeInput: boolean }
  locateSession: (agentSessionId: string, env: Env, workDir: string) => Promise<SessionFiles | null>
  /**
   * Where the agent would look for the session's files if it has none yet. null: the id is not valid for this agent.
   */
  placeSession: (agentSessionId: string, env: Env, workDir: string) => SessionFiles | null
  inspectTranscript: (agentSessionId: string, env: Env, query: TranscriptQuery) => Promise<TranscriptFacts>
  /**
   * Removes an incomplete record at the end. The caller must hold the session's lease, and no other process may have
   * the session open. The original file is first saved as `keepAs`. null: nothing to repair.
   */
  mendTranscript: (path: string, keepAs: string) => Promise<Mended | null>
  /** Cuts and renames transcripts. null: a session of this agent can be moved to another home, but not copied or cut. */
  copies: SessionCopies | null
  /** The agent's own configuration files, by which it could give itself more permissions. */
  ownFiles: (env: Env) => readonly string[]
  /** The live processes that have the session open, including ours. */
  findHolders: (agentSessionId: string, env: Env) => Promise<SessionHolder[]>
  /**
   * Prepares the agent's own files for a sandbox. The caller must hold the session's lease. null: the agent cannot run in a sandbox.
   */
  enclose: ((input: EncloseInput) => Promise<Enclosure>) | null
  /** Finds and reads sessions that people made without Reprise. null: not supported. */
  existing: ExistingSessions | null
}
