/**
 * Triggers of the writing connection that note in the temporary table `changed` what a transaction touches; see
 * changes/changes.ts. They are temporary too, so they are created each time a database is opened and fit its current
 * tables.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { ChangeKind } from '../../contract/change.ts'
import type { Tables } from '../base/schema.ts'

interface Watched {
  kind: ChangeKind
  table: keyof Tables
  /** An SQL expression with `$` for the row. */
  id?: string
  /** null: this kind has no states. */
  state: string | null
  /** Columns whose changes are not reported. */
  except?: readonly string[]
}

const WATCHED: readonly Watched[] = [
  // The number of the last event is left out: agent output is followed by events.
  { kind: 'run', table: 'runs', state: '$.state', except: ['last_seq'] },
  { kind: 'job', table: 'jobs', state: '$.state' },
  { kind: 'conversation', table: 'conversations', state: null },
  { kind: 'message', table: 'messages', state: '$.state' },
  {
    kind: 'session',
    table: 'sessions',
    state: "case when $.poison is not null then 'poisoned' else $.state end",
  },
  {
    kind: 'question',
    table: 'questions',
    id: "$.run_id || '/' || $.tool_use_id",
    state:
      "case when $.closed_at is not null then 'closed' when $.answer is not null then 'answered' else 'open' end",
  },
  { kind: 'approval', table: 'escalations', id: '$.run_id', state: '$.decision' },
  {
    kind: 'watch',
    table: 'watches',
    state: "case when $.removed_at is not null then 'removed' else $.state end",
  },
  { kind: 'cycle', table: 'cycles', state: '$.state' },
  { kind: 'follow-up', table: 'follow_ups', state: '$.state' },
  { kind: 'obstacle', table: 'obstacles', id: "$.account || '/' || $.model", state: '$.kind' },
  { kind: 'notification', table: 'notifications', state: '$.state' },
]

export function createChangeTriggers(database: DatabaseSync): void {
  database.exec(`
    pragma temp_store = memory;
    create temp table changed (kind text not null, id text not null, state text, primary key (kind, id));
  `)
  for (const watched of WATCHED) {
    const { table, except = [] } = watched
    const columns = database
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !except.includes(name))
    database.exec(trigger(watched, 'insert', 'insert', 'new'))
    database.exec(
      trigger(watched, 'update', `update of ${columns.map((name) => `"${name}"`).join(', ')}`, 'new'),
    )
    database.exec(trigger(watched, 'delete', 'delete', 'old'))
  }
}

function trigger(
  { kind, table, id = '$.id', state }: Watched,
  name: string,
  event: string,
  row: 'new' | 'old',
): string {
  const values = {
    id: id.replaceAll('$', row),
    state: row === 'old' ? "'deleted'" : (state?.replaceAll('$', row) ?? 'null'),
  }
  return `
    create temp trigger changed_${table}_${name} after ${event} on main.${table} begin
      insert into changed (kind, id, state) values ('${kind}', ${values.id}, ${values.state})
        on conflict (kind, id) do update set state = excluded.state;
    end`
}
