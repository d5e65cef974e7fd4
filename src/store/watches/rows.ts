/** Converts watches and cycles between rows and records. */
import type { Selectable } from 'kysely'
import type { WatchEvent } from '../../contract/cycle.ts'
import type { RunId } from '../../contract/ids.ts'
import type { WatchDefinition } from '../../contract/watch.ts'
import { date } from '../base/columns.ts'
import type { CycleRecord, WatchRecord } from './records.ts'
import type { CyclesTable, WatchesTable } from './schema.ts'

export function toRow(watch: WatchRecord): WatchesTable {
  return {
    id: watch.id,
    name: watch.name,
    source: watch.source,
    definition: JSON.stringify(watch.definition),
    state: watch.state,
    due_at: watch.due?.at.getTime() ?? null,
    next_at: watch.due?.fireAt.getTime() ?? null,
    session_id: watch.memory?.sessionId ?? null,
    session_since: watch.memory?.since.getTime() ?? null,
    session_cycles: watch.memory?.cycles ?? 0,
    cycles: watch.cycles,
    created_at: watch.createdAt.getTime(),
    updated_at: watch.updatedAt.getTime(),
    removed_at: null,
  }
}

export function toWatch(row: Selectable<WatchesTable>): WatchRecord {
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    definition: JSON.parse(row.definition) as WatchDefinition,
    state: row.state,
    due:
      row.due_at === null || row.next_at === null
        ? null
        : { at: new Date(Number(row.due_at)), fireAt: new Date(Number(row.next_at)) },
    memory:
      row.session_id === null || row.session_since === null
        ? null
        : {
            sessionId: row.session_id,
            since: new Date(Number(row.session_since)),
            cycles: row.session_cycles,
          },
    cycles: row.cycles,
    createdAt: new Date(Number(row.created_at)),
    updatedAt: new Date(Number(row.updated_at)),
  }
}

export function toCycle(row: Selectable<CyclesTable>): CycleRecord {
  return {
    id: row.id,
    watchId: row.watch_id,
    number: row.number,
    state: row.state,
    trigger: row.trigger,
    reason: row.reason,
    message: row.message,
    events: JSON.parse(row.events) as WatchEvent[],
    prompt: row.prompt,
    outcome: row.outcome,
    status: row.status,
    summary: row.summary,
    renewed: row.renewed,
    rootRunId: row.root_run_id as RunId | null,
    dueAt: new Date(Number(row.due_at)),
    startedAt: date(row.started_at),
    endedAt: date(row.ended_at),
    deadlineAt: date(row.deadline_at),
    takenBy: row.taken_by,
  }
}
