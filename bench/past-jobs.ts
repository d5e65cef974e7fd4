/**
 * Makes a long history from a short one: every job in the database is copied with its run, attempt, session and events,
 * until there are as many as requested. The copies are older than their originals, one every half minute, with ids of
 * that time. They are written directly to the database, because a million jobs through Reprise would take a day.
 */
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { ulid } from 'ulid'

/** Tables, with the column by which a row belongs to a job, and the part of the job that it refers to. */
const TABLES = [
  ['jobs', 'id', 'job'],
  ['runs', 'id', 'run'],
  ['attempts', 'run_id', 'run'],
  ['processes', 'session_id', 'session'],
  ['sessions', 'id', 'session'],
  ['leases', 'session_id', 'session'],
  ['events', 'run_id', 'run'],
] as const

const SPACING_MS = 30_000

/** Adds `count` settled jobs, oldest first, as they would have come. */
export function addPastJobs(path: string, count: number): void {
  const database = new DatabaseSync(path)
  try {
    database.exec(
      'pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; pragma temp_store = memory; begin',
    )
    const originals = createOriginals(database)
    createIds(database, count)
    for (const [table, key, part] of TABLES) copyRows(database, table, key, part, originals)
    multiplyTotals(database, (count + originals) / originals)
    database.exec('commit; pragma journal_mode = wal')
  } finally {
    database.close()
  }
}

function createOriginals(database: DatabaseSync): number {
  database.exec(`create temp table originals as
    select row_number() over (order by j.id) - 1 as number, j.id as job, j.run_id as run, r.session_id as session
    from jobs j join runs r on r.id = j.run_id`)
  return Number(database.prepare('select count(*) as n from originals').get()?.n)
}

function createIds(database: DatabaseSync, count: number): void {
  database.exec('create temp table ids (n integer primary key, ulid text, uuid text, age integer)')
  const insert = database.prepare('insert into ids values (?, ?, ?, ?)')
  const now = Date.now()
  for (let n = 0; n < count; n++) {
    const age = (count - n) * SPACING_MS
    insert.run(n, ulid(now - age, Math.random), randomUUID(), age)
  }
}

const columnsOf = (database: DatabaseSync, table: string) =>
  database
    .prepare(`select name from pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name))

function multiplyTotals(database: DatabaseSync, times: number): void {
  const sums = columnsOf(database, 'totals').filter((column) => !/^(outcome|fresh_reason)$/.test(column))
  database.exec(`update totals set ${sums.map((sum) => `${sum} = ${sum} * ${times}`).join(', ')}`)
}

function copyRows(database: DatabaseSync, table: string, key: string, part: string, originals: number): void {
  const columns = columnsOf(database, table)
  const values = columns.map((column) => {
    if (/^(id|lane|(run|job|session|attempt|process)_id)$/.test(column))
      return `substr(t.${column}, 1, 4) || i.ulid`
    if (column === 'agent_session_id') return 'i.uuid'
    return /(^|_)at$/.test(column) ? `t.${column} - i.age` : `t.${column}`
  })
  // Copies only the first and last events: agent output in between would only fill the disk.
  const which = table === 'events' ? "where t.type in ('attempt-start', 'run-end')" : ''
  database.exec(`
    create temp table old_${table} as
      select o.number, t.* from originals o join main.${table} t on t.${key} = o.${part} ${which}
      order by o.number, t.rowid;
    create index temp.old_${table}_number on old_${table} (number);
    insert into main.${table} (${columns.join(', ')})
      select ${values.join(', ')} from ids i cross join old_${table} t on t.number = i.n % ${originals} order by i.n;
    drop table old_${table};`)
}
