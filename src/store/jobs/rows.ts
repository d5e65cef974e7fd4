/** Converts rows of jobs to records. */
import { number } from '../base/columns.ts'
import type { CheckpointRecord, JobOptions, JobRecord, Rewound } from './records.ts'
import type { CheckpointsTable, JobsTable } from './schema.ts'

export function toJob(row: JobsTable): JobRecord {
  return {
    id: row.id,
    runId: row.run_id,
    state: row.state,
    attention: row.attention,
    options: JSON.parse(row.options) as JobOptions,
    priority: row.priority,
    maxBudgetUsd: row.max_budget_usd,
    maxBudgetTokens: number(row.max_budget_tokens),
    rewound: row.rewound === null ? null : (JSON.parse(row.rewound) as Rewound),
    createdAt: new Date(Number(row.created_at)),
    updatedAt: new Date(Number(row.updated_at)),
  }
}

export function toCheckpoint(row: CheckpointsTable): CheckpointRecord {
  return {
    jobId: row.job_id,
    number: row.number,
    kind: row.kind,
    ref: row.ref,
    commit: row.commit_id,
    tree: row.tree,
    head: row.head,
    attemptId: row.attempt_id,
    position:
      row.session_id === null || row.message_id === null
        ? null
        : { sessionId: row.session_id, messageId: row.message_id },
    createdAt: new Date(Number(row.created_at)),
  }
}
