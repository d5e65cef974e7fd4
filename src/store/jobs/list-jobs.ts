/**
 * Pages of jobs, filtered, searched and sorted. The cursor is the last id of the previous page; if the order is by a
 * number, the number comes before it: `12.5/job_01J…`.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import { JobId } from '../../contract/ids.ts'
import type { JobFilters, JobSort } from '../../contract/job.ts'
import type { Tables } from '../base/schema.ts'
import { matchesWords } from '../base/search.ts'
import type { JobRecord } from './records.ts'
import { toJob } from './rows.ts'

export type JobQuery = ListQuery & JobFilters

/** A job that has not ended has no duration yet, and comes before all that have one. */
const NOT_ENDED_MS = 1e15

const ofRuns = (sum: RawBuilder<number>) => sql<number>`(select ${sum} from runs where runs.job_id = jobs.id)`

const NUMBERS: Readonly<Record<Exclude<JobSort, 'newest' | 'oldest'>, RawBuilder<number>>> = {
  cost: ofRuns(sql`coalesce(sum(runs.cost_usd), 0)`),
  attempts: ofRuns(sql`coalesce(sum(runs.attempt_count), 0)`),
  time: ofRuns(
    sql`case when max(runs.ended_at is null) then ${sql.lit(NOT_ENDED_MS)} else coalesce(max(runs.ended_at) - min(runs.started_at), 0) end`,
  ),
}

export async function listJobs(db: Kysely<Tables>, query: JobQuery): Promise<Page<JobRecord>> {
  const { sort = 'newest', limit, state } = query
  const number = sort === 'newest' || sort === 'oldest' ? sql<number>`0` : NUMBERS[sort]
  const after = query.cursor === undefined ? null : parseCursor(query.cursor)
  let select = db
    .selectFrom('jobs')
    .innerJoin('runs as run', 'run.id', 'jobs.run_id')
    .selectAll('jobs')
    .select(number.as('number'))
    .orderBy('number', 'desc')
    .orderBy('jobs.id', sort === 'oldest' ? 'asc' : 'desc')
    .limit(limit + 1)
  if (state) select = select.where('jobs.state', '=', state)
  const found = matchesWords(query.q, ['run.prompt', 'run.work_dir', 'run.agent', 'jobs.id'])
  if (found) select = select.where(found)
  if (after) {
    const beyond = sort === 'oldest' ? sql`jobs.id > ${after.id}` : sql`jobs.id < ${after.id}`
    select = select.where(
      sql<boolean>`(${number} < ${after.number} or (${number} = ${after.number} and ${beyond}))`,
    )
  }
  const rows = await select.execute()
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const nextCursor = last ? (last.number === 0 ? last.id : `${last.number}/${last.id}`) : null
  return { items: rows.slice(0, limit).map(toJob), nextCursor }
}

function parseCursor(cursor: string): { number: number; id: JobId } {
  const [, number = '0', id = ''] = /^(?:([\d.e+-]{1,32})\/)?(.*)$/.exec(cursor) ?? []
  if (JobId.is(id) && Number.isFinite(Number(number))) return { number: Number(number), id }
  throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
}
