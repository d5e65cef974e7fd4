/** Which queued runs may start, and when the next one may. */
import { type Kysely, sql } from 'kysely'
import type { JobId, RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { RunRecord } from './records.ts'
import { toRun } from './rows.ts'

/** Agents and directories for which no more runs may start at present. */
export interface Busy {
  agents: readonly string[]
  places: readonly string[]
}

/**
 * Queued runs that may start now, by priority, then oldest first: they are due, and the first of their lane, of which
 * none is running. A lane stays in order even while its first run waits for a later time.
 */
export async function listStartable(
  db: Kysely<Tables>,
  now: Date,
  limit: number,
  busy: Busy = { agents: [], places: [] },
): Promise<RunRecord[]> {
  let select = db
    .selectFrom('runs as r')
    .select('r.id')
    .where('r.state', '=', sql.lit('queued'))
    .where((eb) => eb.or([eb('r.not_before', 'is', null), eb('r.not_before', '<=', now.getTime())]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as o')
            .select('o.id')
            .whereRef('o.lane', '=', 'r.lane')
            .where('o.state', '<>', 'settled')
            .where((eb) => eb.or([eb('o.state', '=', 'running'), eb('o.id', '<', eb.ref('r.id'))])),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as h')
            .select('h.id')
            .whereRef('h.place', '=', 'r.place')
            .where('h.state', '=', sql.lit('queued'))
            .where('h.holds_place', '=', sql.lit(1))
            .where('h.attempt_count', '>', 0)
            .whereRef('h.id', '<>', 'r.id'),
        ),
      ),
    )
    .orderBy('r.priority', 'desc')
    .orderBy('r.id')
    .limit(limit)
  if (busy.agents.length > 0) select = select.where('r.agent', 'not in', busy.agents)
  if (busy.places.length > 0) {
    select = select.where((eb) => eb.or([eb('r.place', 'is', null), eb('r.place', 'not in', busy.places)]))
  }
  const ids = (await select.execute()).map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await db.selectFrom('runs').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, toRun(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** A run that another one waits for. */
export interface Ahead {
  /** Whether it comes first in the same conversation or session, or uses the same directory. */
  shares: 'lane' | 'place'
  id: RunId
  jobId: JobId | null
  state: 'queued' | 'running'
  /** Why it waits itself. */
  why: string | null
  /** Its agent waits for an answer of a person. */
  asks: boolean
  /** How many runs use the directory. */
  users: number
}

/** The run that a queued one has to wait for: the first of its lane, else the first that uses its directory. */
export async function findAhead(db: Kysely<Tables>, id: RunId): Promise<Ahead | null> {
  const run = await db.selectFrom('runs').select(['lane', 'place']).where('id', '=', id).executeTakeFirst()
  if (!run) return null
  const others = db
    .selectFrom('runs')
    .select(['id', 'job_id', 'state', 'message'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('questions')
          .select('questions.request_id')
          .whereRef('questions.run_id', '=', 'runs.id')
          .where('questions.answer', 'is', null)
          .where('questions.closed_at', 'is', null),
      ).as('asks'),
    )
    .where('id', '<>', id)
    .where('state', '<>', 'settled')
    .orderBy('id')
  const inLane = await others
    .where('lane', '=', run.lane)
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('id', '<', id)]))
    .limit(1)
    .execute()
  const inPlace =
    run.place === null
      ? []
      : await others
          .where('place', '=', run.place)
          .where((eb) =>
            eb.or([
              eb('state', '=', 'running'),
              eb.and([eb('holds_place', '=', sql.lit(1)), eb('attempt_count', '>', 0)]),
            ]),
          )
          .execute()
  const [first] = [...inLane, ...inPlace]
  if (!first) return null
  return {
    shares: inLane.length > 0 ? 'lane' : 'place',
    id: first.id,
    jobId: first.job_id,
    state: first.state === 'running' ? 'running' : 'queued',
    why: first.message,
    asks: Boolean(first.asks),
    users: inPlace.length,
  }
}

/** When the next queued run becomes due that is not due yet. */
export async function nextDueAt(db: Kysely<Tables>, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.min('not_before').as('at'))
    .where('state', '=', 'queued')
    .where('not_before', '>', now.getTime())
    .executeTakeFirst()
  return row?.at == null ? null : new Date(Number(row.at))
}
