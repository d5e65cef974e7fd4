/** Converts rows of runs, attempts, sessions, events and questions to records. */
import type { EventBody } from '../../contract/events.ts'
import type { LeftOut } from '../../contract/left-out.ts'
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'
import type { Carry, FreshReason } from '../../contract/run.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import type { DirectorySettings } from '../../contract/trust.ts'
import { date, json, number } from '../base/columns.ts'
import type { AttemptRecord, QuestionRecord } from './attempt-records.ts'
import type { Keeper } from './process-records.ts'
import type { RunRecord, RunRequest, RunSpend, RunState, StoredEvent } from './records.ts'
import type {
  AttemptsTable,
  EventsTable,
  ProcessesTable,
  QuestionsTable,
  RunsTable,
  SessionsTable,
} from './schema.ts'
import type { SessionRecord } from './session-records.ts'

/** A paused run is a queued run with this time as the earliest start. */
export const PAUSED_MS = Date.UTC(9999, 0, 1)

export const isPaused = (notBefore: number | null) => notBefore !== null && Number(notBefore) >= PAUSED_MS

export function toRun(row: RunsTable): RunRecord {
  const { sessionId: _, ...request } = JSON.parse(row.request) as RunRequest & { sessionId?: unknown }
  return {
    id: row.id,
    agent: row.agent,
    model: row.model,
    workDir: row.work_dir,
    prompt: row.prompt,
    promptId: row.prompt_id,
    request,
    state: toState(row),
    sessionId: row.session_id,
    cancelRequested: row.cancel_requested_at !== null,
    decision:
      row.carry === null
        ? null
        : {
            resumed: row.resumed === 1,
            freshReason: row.fresh_reason as FreshReason | null,
            carry: row.carry as Carry,
          },
    sandbox: row.sandbox as SandboxName | null,
    directorySettings: row.directory_settings as DirectorySettings | null,
    attemptCount: row.attempt_count,
    outdatedAttempts: row.outdated_attempts,
    interruptions: row.interruptions,
    resumeCount: row.resume_count,
    resultText: row.result_text,
    sent:
      row.prompt_chars === null
        ? null
        : {
            promptChars: Number(row.prompt_chars),
            transcriptChars: Number(row.transcript_chars),
            leftOut: json<LeftOut>(row.left_out),
          },
    spend: {
      usage: {
        inputTokens: Number(row.input_tokens),
        outputTokens: Number(row.output_tokens),
        cacheReadTokens: Number(row.cache_read_tokens),
        cacheWriteTokens: Number(row.cache_write_tokens),
      },
      costUsd: row.cost_usd,
      estimated: row.cost_estimated === 1,
      contextTokens: number(row.context_tokens),
      contextWindow: number(row.context_window),
    },
    done: { modelCalls: row.model_calls, toolCalls: row.tool_calls, refusals: row.refusals },
    priority: row.priority,
    place: row.place,
    links: {
      parentRunId: row.parent_run_id,
      tier: row.tier,
      conversationId: row.conversation_id,
      turn: row.turn,
      jobId: row.job_id,
      cycleId: row.cycle_id,
      followUpId: row.follow_up_id,
      budgetOf: row.budget_of,
    },
    createdAt: new Date(Number(row.created_at)),
    startedAt: date(row.started_at),
  }
}

function toState(row: RunsTable): RunState {
  if (row.state === 'queued')
    return {
      at: 'queued',
      notBefore: isPaused(row.not_before) ? null : date(row.not_before),
      why: row.message,
      paused: isPaused(row.not_before),
    }
  if (row.state === 'running') return { at: 'running' }
  return {
    at: 'settled',
    outcome: json<Outcome>(row.outcome) ?? { name: 'crashed' as OutcomeName, message: 'unknown' },
    endedAt: new Date(Number(row.ended_at)),
  }
}

/** The columns of the process that are read with an attempt. */
export type ProcessOfAttempt = Pick<
  ProcessesTable,
  'pid' | 'start_ticks' | 'boot_id' | 'runtime' | 'spool' | 'binding'
>

export const toKeeper = (row: Pick<ProcessesTable, 'pid' | 'start_ticks' | 'boot_id'>): Keeper | null =>
  row.pid === null ? null : { pid: row.pid, startTicks: row.start_ticks ?? '', bootId: row.boot_id ?? '' }

export function toAttempt(row: AttemptsTable & ProcessOfAttempt): AttemptRecord {
  return {
    id: row.id,
    runId: row.run_id,
    number: row.number,
    state: row.state,
    sessionId: row.session_id,
    agentSessionId: row.agent_session_id,
    resumed: row.resumed === 1,
    freshReason: row.fresh_reason as FreshReason | null,
    carry: row.carry as Carry,
    promptId: row.prompt_id,
    epoch: row.epoch,
    told: row.told,
    kind: row.kind,
    runtime: json(row.runtime),
    fence: Number(row.fence),
    processId: row.process_id,
    process: toKeeper(row),
    spool: row.spool,
    keepable: row.binding !== null,
    spoolFrom: Number(row.spool_from),
    spoolOffset: Number(row.spool_offset),
    heldFrom: row.held_from === null ? null : Number(row.held_from),
    watched: { workedMs: Number(row.worked_ms), waitingMs: Number(row.waiting_ms) },
    cacheUse: json(row.cache_use),
    stopCause: row.stop_cause,
    exitCode: row.exit_code,
    outcome: json<Outcome>(row.outcome),
    costFromUsd: row.cost_from_usd,
    costUsd: row.cost_usd,
    contextTokens: number(row.context_tokens),
    contextWindow: number(row.context_window),
    startedAt: new Date(Number(row.started_at)),
    endedAt: date(row.ended_at),
  }
}

export function toSession(row: SessionsTable): SessionRecord {
  return {
    id: row.id,
    agent: row.agent,
    agentSessionId: row.agent_session_id,
    workDir: row.work_dir,
    workDirId: row.work_dir_id,
    runtimeId: row.runtime_id,
    runtime: json(row.runtime),
    epoch: row.epoch,
    continues: row.continues,
    poison: json(row.poison),
    cacheState: json(row.cache_state),
    told: row.told,
    compacted: row.compacted === 1,
    turns: row.turns,
    resumes: row.resumes,
    contextTokens: number(row.context_tokens),
    contextWindow: number(row.context_window),
    costUsd: row.cost_usd,
    createdAt: new Date(Number(row.created_at)),
    lastUsedAt: new Date(Number(row.last_used_at)),
    state: row.state,
    stateAt: date(row.state_at),
    messages: Number(row.messages),
    usage: {
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      cacheReadTokens: Number(row.cache_read_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
    },
    stopReason: row.stop_reason,
    finished: Number(row.finished) === 1,
    archivedAt: date(row.archived_at),
    adopted: row.origin === 'adopted',
  }
}

export function toEvent(row: EventsTable): StoredEvent {
  return {
    runId: row.run_id,
    seq: Number(row.seq),
    attemptId: row.attempt_id,
    at: new Date(Number(row.at)),
    body: JSON.parse(row.body) as EventBody,
    chars: row.body.length,
  }
}

export function toQuestion(row: QuestionsTable): QuestionRecord {
  return {
    attemptId: row.attempt_id,
    runId: row.run_id,
    ask: JSON.parse(row.ask),
    askedAt: new Date(Number(row.asked_at)),
    answer: json(row.answer),
    answeredAt: date(row.answered_at),
    closedAt: date(row.closed_at),
  }
}

export function toSpend(
  row: Pick<
    RunsTable,
    'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'cost_usd'
  >,
): Pick<RunSpend, 'usage' | 'costUsd'> {
  return {
    usage: {
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      cacheReadTokens: Number(row.cache_read_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
    },
    costUsd: row.cost_usd,
  }
}
