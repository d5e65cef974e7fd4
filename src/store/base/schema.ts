/** The tables, as the queries see them. Instants are milliseconds since 1970, JSON is text: the same on every database. */

import type {
  ActionId,
  AttemptId,
  ConversationId,
  CycleId,
  FollowUpId,
  JobId,
  MessageId,
  NotificationId,
  RunId,
  SessionId,
} from '../../contract/ids.ts'
import type { Attention, CheckpointKind, JobState } from '../../contract/job.ts'
import type { NotifyEvent } from '../../contract/notification.ts'
import type { Subject } from '../../core/notify/plan.ts'
import type {
  CyclesTable,
  FollowUpsTable,
  RequestKeysTable,
  WatchEventsTable,
  WatchesTable,
} from './watch-schema.ts'

export interface Tables {
  runs: RunsTable
  attempts: AttemptsTable
  sessions: SessionsTable
  leases: LeasesTable
  events: EventsTable
  questions: QuestionsTable
  facts: FactsTable
  conversations: ConversationsTable
  messages: MessagesTable
  pins: PinsTable
  outside_turns: OutsideTurnsTable
  given_prompts: GivenPromptsTable
  jobs: JobsTable
  checkpoints: CheckpointsTable
  notifications: NotificationsTable
  totals: TotalsTable
  cache_totals: CacheTotalsTable
  escalations: EscalationsTable
  actions: ActionsTable
  watches: WatchesTable
  cycles: CyclesTable
  watch_events: WatchEventsTable
  request_keys: RequestKeysTable
  follow_ups: FollowUpsTable
  obstacles: ObstaclesTable
}

export interface RunsTable {
  id: RunId
  idempotency_key: string | null
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
  /** What was started. */
  runtime: string | null
  fence: number
  pid: number | null
  start_ticks: string | null
  boot_id: string | null
  /** Bytes of the spool that are represented by stored events. */
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
  cost_usd: number | null
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

/** One row per session ever leased; `attempt_id` is null while nobody holds it. `fence` only ever grows. */
export interface LeasesTable {
  session_id: SessionId
  attempt_id: AttemptId | null
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

/** Small things worth remembering across restarts, by key: probe results, learned prices. */
export interface FactsTable {
  key: string
  value: string
}

export interface ConversationsTable {
  id: ConversationId
  title: string
  agent: string
  work_dir: string
  instructions: string | null
  history_scope: 'shared' | 'agent'
  turn_count: number
  /** Counts the changes to what has been said. An attempt that was prepared for another one must not start. */
  revision: number
  created_at: number
  updated_at: number
}

/** At most one question and one answer a turn. `run_id` of a question is the run that is to answer it. */
export interface MessagesTable {
  id: MessageId
  conversation_id: ConversationId
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: string
  state: 'complete' | 'cancelled' | 'failed'
  /** Counts the changes of the content. */
  revision: number
  run_id: RunId | null
  /** null: said through Reprise. See contract/conversation.ts. */
  origin: 'outside' | 'outside-branch' | null
  created_at: number
  edited_at: number | null
}

/** What was said in a session outside Reprise; see outside.ts. */
export interface OutsideTurnsTable {
  session_id: SessionId
  native_id: string
  prompt: string
  answer: string
  in_session: number
  said_at: number
}

/** A follow-up that was given to a process which had been kept waiting. It is noted before it is given. */
export interface GivenPromptsTable {
  session_id: SessionId
  message_id: string
}

/**
 * An agent's place in a conversation. `epoch` counts the changes to the history it was given; its session is of use
 * only while `session_epoch` is the same.
 */
export interface PinsTable {
  conversation_id: ConversationId
  agent: string
  epoch: number
  session_id: SessionId | null
  session_epoch: number | null
  /** The turns with which its session began, and up to which it has seen the conversation. */
  since_turn: number | null
  seen_turn: number | null
}

/** `state` and `attention` follow from the run, and change with it. */
export interface JobsTable {
  id: JobId
  idempotency_key: string | null
  request_hash: string
  /** The run that works on it, or did last. */
  run_id: RunId
  state: JobState
  attention: Attention | null
  options: string
  priority: number
  max_budget_usd: number | null
  max_budget_tokens: number | null
  created_at: number
  updated_at: number
}

export interface CheckpointsTable {
  job_id: JobId
  number: number
  kind: CheckpointKind
  ref: string
  commit_id: string
  tree: string
  head: string | null
  attempt_id: AttemptId | null
  created_at: number
}

/** What followed from a settled run at a tier. `ask` becomes one of the others, once. */
export interface EscalationsTable {
  run_id: RunId
  tier: number
  decision: 'escalate' | 'ask' | 'stop'
  reason: string
  message: string
  to_tier: number | null
  next_run_id: RunId | null
  recommendation: string
  decided_by: 'rules' | 'person' | 'timeout'
  decided_at: number
  /** Until when a person may answer. */
  expires_at: number | null
}

/** What is to be told, and to whom. Once for each subject, event, occurrence and target. */
export interface NotificationsTable {
  id: NotificationId
  event: NotifyEvent
  subject_kind: Subject['kind']
  subject_id: Subject['id']
  occurrence: string
  /** A configured target's name, or an address. */
  target: string
  /** The subject as it was. */
  payload: string
  state: 'pending' | 'delivered' | 'given-up'
  tries: number
  /** Of a pending one. */
  not_before: number | null
  last_error: string | null
  created_at: number
  ended_at: number | null
}

/** Sums over all settled runs with this end and this reason; see totals.ts. */
export interface TotalsTable {
  outcome: string
  /** Empty: there is none, the run's newest attempt was resumed. */
  fresh_reason: string
  runs: number
  attempts: number
  resumed: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number
  prompt_chars: number
  transcript_chars: number
}

/** Sums over resumed turns by the cause of what was written to the prompt cache again; see cache-totals.ts. */
export interface CacheTotalsTable {
  /** Empty: nothing was. */
  cause: string
  turns: number
  expected_tokens: number
  read_tokens: number
  written_tokens: number
  rewritten_tokens: number
  rewrite_usd: number
  saved_usd: number
}

/** What was done to services; see actions.ts. */
export interface ActionsTable {
  id: ActionId
  rule: string
  service: string
  scope: string | null
  run_id: RunId
  attempt_id: AttemptId
  tool_use_id: string | null
  /** The question of the guard by which it started. */
  guard_id: string | null
  command: string
  line: 'tool' | 'guard'
  /** From when it counts: when it was claimed, then when it really started. */
  at: number
  started_at: number | null
}

/** Limits and outages that are open; see obstacles.ts. */
export interface ObstaclesTable {
  account: string
  /** Empty: all models of the account. */
  model: string
  kind: 'limit' | 'outage'
  message: string
  since: number
  next_try_at: number
  resets_at: number | null
  failures: number
  last_failure_at: number
  last_attempt_id: string
  /** The run that tries whether it is over, and since when it was to. */
  probe_run_id: RunId | null
  probe_since: number | null
}
