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

export interface RunsTable {
  id: RunId
  agent: string
  model: string | null
  work_dir: string
  prompt: string
  prompt_id: string
  /** Everything else the caller asked for. */
  request: string
  state: 'queued' | 'running' | 'settled'
  /** Runs of one lane are started one at a time, in order. The session they use, once that is known. */
  lane: string | null
  /** The session a continued attempt would use. */
  session_id: SessionId | null
  not_before: number | null
  /** How long it was meant to wait when `not_before` was set. */
  wait_ms: number | null
  /** Of a queued run: the obstacle that it waits behind; see obstacles.ts. */
  held_by: string | null
  /** 1: a person made it go on, and it has not been tried since. */
  continued: number
  cancel_requested_at: number | null
  outcome: string | null
  outcome_name: string | null
  message: string | null
  result_text: string | null
  resumed: number | null
  fresh_reason: string | null
  carry: string | null
  attempt_count: number
  /** Its first attempts, so many, were at another text: its question has been edited since. */
  outdated_attempts: number
  /** What its interrupted attempts count, see core/continue. */
  crash_count: number
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
  /** Which turn of the conversation it answers. */
  turn: number | null
  /** How long the text sent was, and how long it would have been with the whole history. */
  prompt_chars: number | null
  transcript_chars: number | null
  /** What of the past did not fit into the text. */
  left_out: string | null
  job_id: JobId | null
  cycle_id: CycleId | null
  /** The follow-up whose prompt it has. */
  follow_up_id: FollowUpId | null
  /** The job or run whose budget it draws on, besides its own job's. */
  budget_of: JobId | RunId | null
  /** Higher ones start first. */
  priority: number
  /** The directory it must not share with more runs than the limit says. */
  place: string | null
  /** Once begun, it keeps its place also while it waits. */
  holds_place: number
  model_calls: number
  tool_calls: number
  refusals: number
  created_at: number
  started_at: number | null
  ended_at: number | null
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
  /** Of the history it was given, in a conversation. */
  epoch: number | null
  /** The hash of the texts said once that its session has after its prompt. */
  told: string | null
  kind: 'turn' | 'compact'
  process_id: ProcessId
  /** The process's: kept here too, because it is on this row that a write is refused. */
  fence: number
  /** Where in the process's spool the attempt begins, and up to where it is represented by stored events. */
  spool_from: number
  spool_offset: number
  held_from: number | null
  /** How a resumed one used the prompt cache. */
  cache_use: string | null
  /** In watched time: what it has worked, and waited for the answer to the oldest open question. */
  worked_ms: number
  waiting_ms: number
  stop_cause: string | null
  exit_code: number | null
  outcome: string | null
  /** What the process had reported as its cost when the attempt began. */
  cost_from_usd: number
  cost_usd: number | null
  started_at: number
  ended_at: number | null
}

/** An agent's OS process; see processes.ts. */
export interface ProcessesTable {
  id: ProcessId
  /** The machine that holds it; null: it was started by a version that did not note it. */
  machine_id: MachineId | null
  session_id: SessionId
  agent: string
  /** What was started. */
  runtime: string | null
  /** The folder of its output, in the folder of all spools. */
  spool: string
  fence: number
  /** The keeper. */
  pid: number | null
  start_ticks: string | null
  boot_id: string | null
  state: 'starting' | 'running' | 'gone'
  started_at: number
  ended_at: number | null
}

export interface SessionsTable {
  id: SessionId
  agent: string
  agent_session_id: string
  work_dir: string
  /** What the file system knows it by; null if that was not recorded. */
  work_dir_id: string | null
  runtime_id: string
  /** What wrote it last, in parts; null if that is not known. */
  runtime: string | null
  epoch: number
  /** The session whose history this one was started with, when that one could not be resumed. */
  continues: SessionId | null
  poison: string | null
  /** What its last call left in the prompt cache; see core/cost/cache.ts. */
  cache_state: string | null
  /** The hash of the texts said once that it was told last, and whether it has been compacted since. */
  told: string | null
  compacted: number
  turns: number
  resumes: number
  context_tokens: number | null
  context_window: number | null
  cost_usd: number
  created_at: number
  last_used_at: number
}

/** One row per session ever leased; `process_id` is null while nobody holds it. `fence` only ever grows. */
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
  /** For queries; the body has it too. */
  type: string
  body: string
}

/** What agents asked. `answer` is set once; `closed_at` when the question no longer stands, answered or not. */
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

declare module '../base/schema.ts' {
  interface Tables {
    runs: RunsTable
    attempts: AttemptsTable
    processes: ProcessesTable
    sessions: SessionsTable
    leases: LeasesTable
    events: EventsTable
    questions: QuestionsTable
  }
}
