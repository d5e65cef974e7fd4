/** The tables of runs, their attempts, sessions, events and questions. */
import type {
  AttemptId,
  ConversationId,
  CycleId,
  FollowUpId,
  JobId,
  MachineId,
  ProcessId,
  RunId,
  SessionId,
} from '../../contract/ids.ts'
import type { RunMessageState } from '../../contract/run-message.ts'
import type { SessionLifecycle } from '../../contract/session.ts'

export interface RunsTable {
  id: RunId
  agent: string
  model: string | null
  work_dir: string
  prompt: string
  prompt_id: string
  /** All other fields of the request. */
  request: string
  state: 'queued' | 'running' | 'settled'
  /** Runs of one lane are started one at a time, in order. It is the session they use, once that is known. */
  lane: string | null
  /** The session that a continued attempt would use. */
  session_id: SessionId | null
  not_before: number | null
  /** How long it was meant to wait when `not_before` was set. */
  wait_ms: number | null
  /** Set only for queued runs: the obstacle that the run waits behind; see obstacles.ts. */
  held_by: string | null
  /** 1: a person continued the run, and it has not been tried since. */
  continued: number
  cancel_requested_at: number | null
  outcome: string | null
  outcome_name: string | null
  message: string | null
  result_text: string | null
  resumed: number | null
  fresh_reason: string | null
  sandbox: string | null
  directory_settings: string | null
  carry: string | null
  attempt_count: number
  /** The number of first attempts that worked on an older text: the question has been edited since. */
  outdated_attempts: number
  /** What its interrupted attempts count, see core/continue. */
  interruptions: number
  resume_count: number
  last_seq: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number | null
  cost_estimated: number
  context_tokens: number | null
  context_window: number | null
  parent_run_id: RunId | null
  tier: number | null
  conversation_id: ConversationId | null
  /** The turn of the conversation that it answers. */
  turn: number | null
  /** The length of the sent text, and its length with the whole history. */
  prompt_chars: number | null
  transcript_chars: number | null
  /** The part of the history that did not fit into the text. */
  left_out: string | null
  job_id: JobId | null
  cycle_id: CycleId | null
  /** The follow-up whose prompt it has. */
  follow_up_id: FollowUpId | null
  /** The job or run whose budget it uses, besides its own job's. */
  budget_of: JobId | RunId | null
  /** Runs with a higher priority start first. */
  priority: number
  /** The directory whose number of concurrent runs is limited. */
  place: string | null
  /** 1: once begun, the run counts for its directory also while it waits. */
  holds_place: number
  model_calls: number
  tool_calls: number
  refusals: number
  created_at: number
  started_at: number | null
  ended_at: number | null
  /** 1: its events were deleted, except those about its attempts; see keep/sweep-runs.ts. */
  events_swept: number
}

export interface AttemptsTable {
  id: AttemptId
  run_id: RunId
  number: number
  state: 'planned' | 'running' | 'ended'
  session_id: SessionId
  agent_session_id: string
  resumed: number
  fresh_reason: string | null
  carry: string
  prompt_id: string
  /** In a conversation: the epoch of the history that the attempt was given. */
  epoch: number | null
  /** The hash of the one-time texts (such as instructions) that its session has after its prompt. */
  told: string | null
  kind: 'turn' | 'compact'
  process_id: ProcessId
  /** The fence of the process, copied here because writes are guarded on this row. */
  fence: number
  /** The position in the process's spool where the attempt begins, and up to which its output is stored as events. */
  spool_from: number
  spool_offset: number
  held_from: number | null
  /** How a resumed attempt used the prompt cache. */
  cache_use: string | null
  /** In watched time: how long it has worked, and how long it has waited for the answer to the oldest open question. */
  worked_ms: number
  waiting_ms: number
  stop_cause: string | null
  exit_code: number | null
  outcome: string | null
  /** The cost that the process had reported when the attempt began. */
  cost_from_usd: number
  cost_usd: number | null
  /** How full the context was after it. */
  context_tokens: number | null
  context_window: number | null
  started_at: number
  ended_at: number | null
}

/** An agent's OS process; see processes.ts. */
export interface ProcessesTable {
  id: ProcessId
  /** The machine that holds it; null: it was started by a version that did not record it. */
  machine_id: MachineId | null
  session_id: SessionId
  agent: string
  /** The runtime that was started. */
  runtime: string | null
  /** The name of its folder in the spool folder. */
  spool: string
  fence: number
  /** The identity of the keeper. */
  pid: number | null
  start_ticks: string | null
  boot_id: string | null
  state: 'starting' | 'running' | 'kept' | 'gone'
  /** What the process was started with; null: it ends with its turn. */
  binding: string | null
  /** Set while it is kept: until when, and what it left. */
  kept: string | null
  /** Set once it was kept: the conversation whose turn it had last, or was started ahead for. */
  conversation_id: ConversationId | null
  started_at: number
  ended_at: number | null
}

export interface SessionsTable {
  id: SessionId
  agent: string
  agent_session_id: string
  work_dir: string
  /** Identifies the directory in the file system; null if that was not recorded. */
  work_dir_id: string | null
  runtime_id: string
  /** The runtime that last wrote it, in parts; null if that is not known. */
  runtime: string | null
  epoch: number
  /** The session whose history this one was started with, because that one could not be resumed. */
  continues: SessionId | null
  poison: string | null
  /** What its last call left in the prompt cache; see core/cost/cache.ts. */
  cache_state: string | null
  /** The hash of the one-time texts that it was given last, and whether it has been compacted since. */
  told: string | null
  compacted: number
  turns: number
  resumes: number
  context_tokens: number | null
  context_window: number | null
  cost_usd: number
  /** See core/session/lifecycle.ts; and since when it is in this state. */
  state: SessionLifecycle
  state_at: number | null
  /** Prompts that it took, and answers that it gave. */
  messages: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  /** Why the model stopped last, in the agent's words. */
  stop_reason: string | null
  /** 1: the model ended its last turn by itself. */
  finished: number
  archived_at: number | null
  /** adopted: a person had made it without Reprise. null: Reprise made it. */
  origin: 'adopted' | null
  created_at: number
  last_used_at: number
  /** Set once a person has deleted it, and whether alone or with its conversation. */
  deleted_at: number | null
  deleted_with: 'session' | 'conversation' | null
}

/** One row for every session ever leased; `process_id` is null while the session is free. `fence` only grows. */
export interface LeasesTable {
  session_id: SessionId
  process_id: ProcessId | null
  run_id: RunId | null
  fence: number
  acquired_at: number
}

export interface EventsTable {
  run_id: RunId
  seq: number
  attempt_id: AttemptId | null
  at: number
  /** For queries; the body contains it too. */
  type: string
  body: string
}

/** Questions of agents. `answer` is set once; `closed_at` when the question is closed, answered or not. */
export interface QuestionsTable {
  attempt_id: AttemptId
  request_id: string
  run_id: RunId
  tool_use_id: string
  ask: string
  asked_at: number
  answer: string | null
  answered_at: number | null
  closed_at: number | null
}

/** Calls that a person has allowed for the rest of a session. */
export interface AllowedCallsTable {
  session_id: SessionId
  /** See core/permission/same-call.ts. */
  call_hash: string
  created_at: number
}

/** See messages.ts. `id` is also the id of the message for the agent. */
export interface RunMessagesTable {
  id: string
  run_id: RunId
  request_key: string | null
  text: string
  sender: string | null
  state: RunMessageState
  said_at: number
  read_at: number | null
  /** The session that has read it. */
  read_by: SessionId | null
  /** The next turn of the conversation, if the message became one. */
  next_run_id: RunId | null
  closed_at: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    allowed_calls: AllowedCallsTable
    runs: RunsTable
    attempts: AttemptsTable
    processes: ProcessesTable
    sessions: SessionsTable
    leases: LeasesTable
    events: EventsTable
    questions: QuestionsTable
    run_messages: RunMessagesTable
  }
}
