/**
 * A group: a run with everything that is shown or counted together with it: the other runs of its job, chain, cycle and
 * budget, and its follow-ups. A group is kept or deleted as a whole, so that what a job, a chain or a cycle cost stays
 * right as long as it can be seen.
 */
import type { Kysely } from 'kysely'
import { type CycleId, type FollowUpId, JobId, type RunId, type SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import { isAnyInUse } from './sessions-in-use.ts'

type Db = Kysely<Tables>

interface GroupRun {
  id: RunId
  settled: boolean
  endedAt: number
  conversation: 'none' | 'deleted' | { updatedAt: number }
}

export interface Group {
  runs: readonly GroupRun[]
  jobIds: readonly JobId[]
  cycleIds: readonly CycleId[]
  followUpIds: readonly FollowUpId[]
  sessionIds: readonly SessionId[]
  /** Runs that were not read, because there are too many. Then the group stays. */
  unread: readonly RunId[]
}

/** Larger groups stay: reading them would block the writer. */
const MAX_RUNS = 2000
/** The newest cycles of a watch stay: its next one is told about the last ones, and people look there first. */
const KEPT_CYCLES = 20
/** So do the newest runs of a recurring follow-up. */
const KEPT_FIRINGS = 20

/** Without any run if the given one does not exist. */
export async function readGroup(db: Db, start: RunId): Promise<Group> {
  const runs = new Map<RunId, GroupRun>()
  const jobs = new Set<JobId>()
  const cycles = new Set<CycleId>()
  const followUps = new Set<FollowUpId>()
  const sessions = new Set<SessionId>()
  const queue: RunId[] = [start]
  const add = (rows: readonly { id: RunId | null }[]) => {
    for (const { id } of rows) if (id !== null && !runs.has(id)) queue.push(id)
  }
  const runsWhere = (column: 'parent_run_id' | 'job_id' | 'cycle_id' | 'budget_of', id: string) =>
    db
      .selectFrom('runs')
      .select('id')
      .where(column, '=', id as never)
      .execute()
  const addJob = async (id: JobId) => {
    if (jobs.has(id)) return
    jobs.add(id)
    add(await runsWhere('job_id', id))
    add(await runsWhere('budget_of', id))
  }
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (runs.has(id)) continue
    if (runs.size >= MAX_RUNS) {
      queue.push(id)
      break
    }
    const run = await readRun(db, id)
    if (!run) continue
    runs.set(id, run)
    if (run.sessionId) sessions.add(run.sessionId)
    for (const { session_id } of await db
      .selectFrom('attempts')
      .select('session_id')
      .where('run_id', '=', id)
      .execute())
      sessions.add(session_id)
    add([{ id: run.parentRunId }])
    add(await runsWhere('parent_run_id', id))
    add(await runsWhere('budget_of', id))
    if (run.jobId) await addJob(run.jobId)
    if (run.budgetOf) await (JobId.is(run.budgetOf) ? addJob(run.budgetOf) : add([{ id: run.budgetOf }]))
    if (run.cycleId && !cycles.has(run.cycleId)) {
      cycles.add(run.cycleId)
      add(await runsWhere('cycle_id', run.cycleId))
    }
    for (const plan of await followUpsOf(db, id, run.followUpId)) {
      followUps.add(plan.id)
      add([{ id: plan.run_id }, { id: plan.root_run_id }, { id: plan.fired_run_id }])
      if (plan.session_id) sessions.add(plan.session_id)
    }
  }
  return {
    runs: [...runs.values()],
    jobIds: [...jobs],
    cycleIds: [...cycles],
    followUpIds: [...followUps],
    sessionIds: [...sessions],
    unread: queue,
  }
}

async function readRun(db: Db, id: RunId) {
  const row = await db
    .selectFrom('runs')
    .leftJoin('conversations', 'conversations.id', 'runs.conversation_id')
    .select([
      'runs.state',
      'runs.ended_at',
      'runs.conversation_id',
      'conversations.updated_at',
      'runs.session_id',
      'runs.parent_run_id',
      'runs.job_id',
      'runs.cycle_id',
      'runs.follow_up_id',
      'runs.budget_of',
    ])
    .where('runs.id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  const conversation: GroupRun['conversation'] =
    row.conversation_id === null
      ? 'none'
      : row.updated_at === null
        ? 'deleted'
        : { updatedAt: Number(row.updated_at) }
  return {
    id,
    settled: row.state === 'settled',
    endedAt: Number(row.ended_at ?? 0),
    conversation,
    sessionId: row.session_id,
    parentRunId: row.parent_run_id,
    jobId: row.job_id,
    cycleId: row.cycle_id,
    followUpId: row.follow_up_id,
    budgetOf: row.budget_of,
  }
}

function followUpsOf(db: Db, runId: RunId, ownId: FollowUpId | null) {
  return db
    .selectFrom('follow_ups')
    .select(['id', 'run_id', 'root_run_id', 'fired_run_id', 'session_id'])
    .where((eb) =>
      eb.or([
        eb('run_id', '=', runId),
        eb('root_run_id', '=', runId),
        eb('fired_run_id', '=', runId),
        ...(ownId === null ? [] : [eb('id', '=', ownId)]),
      ]),
    )
    .execute()
}

/** Whether nothing of the group is going on, or may go on by itself. */
async function isOver(db: Db, { runs, jobIds, cycleIds, followUpIds, unread }: Group): Promise<boolean> {
  if (unread.length > 0 || runs.length === 0 || runs.some(({ settled }) => !settled)) return false
  const openJob = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', [...jobIds, ''] as JobId[])
    .where('state', 'not in', ['completed', 'failed', 'cancelled'])
    .executeTakeFirst()
  const planned = await db
    .selectFrom('follow_ups')
    .select('id')
    .where('id', 'in', [...followUpIds, ''] as FollowUpId[])
    .where('state', '=', 'planned')
    .executeTakeFirst()
  const openCycle = await db
    .selectFrom('cycles')
    .select('id')
    .where('id', 'in', [...cycleIds, ''] as CycleId[])
    .where('state', 'in', ['queued', 'open'])
    .executeTakeFirst()
  const awaitsApproval = await db
    .selectFrom('escalations')
    .select('run_id')
    .where(
      'run_id',
      'in',
      runs.map(({ id }) => id),
    )
    .where('decision', '=', 'ask')
    .executeTakeFirst()
  return !openJob && !planned && !openCycle && !awaitsApproval
}

/** Whether the whole group may be deleted: it ended before, and nothing that is in use refers to it. */
export async function mayDelete(db: Db, group: Group, before: Date): Promise<boolean> {
  const isOld = ({ endedAt, conversation }: GroupRun) =>
    conversation === 'deleted' || (conversation === 'none' && endedAt < before.getTime())
  if (!group.runs.every(isOld) || !(await isOver(db, group))) return false
  const checkpoint = await db
    .selectFrom('checkpoints')
    .select('job_id')
    .where('job_id', 'in', [...group.jobIds, ''] as JobId[])
    .executeTakeFirst()
  if (checkpoint) return false
  for (const id of group.cycleIds) if (await isAmongNewest(db, id)) return false
  return !(await isAnyInUse(db, group.sessionIds, before))
}

/** Whether the events of the group's runs may be deleted. A conversation needs those of its runs while it is in use. */
export async function mayThin(db: Db, group: Group, before: Date): Promise<boolean> {
  const isOld = ({ endedAt, conversation }: GroupRun) =>
    endedAt < before.getTime() &&
    (typeof conversation === 'string' || conversation.updatedAt < before.getTime())
  if (!group.runs.every(isOld) || !(await isOver(db, group))) return false
  return !(await isAnyInUse(db, group.sessionIds, before, { pinned: false }))
}

/**
 * Whether the run was started by a recurring follow-up, ended before, and is not one of the newest that it started. What
 * was said in those is enough for a new session.
 */
export async function isOldFiring(db: Db, id: RunId, before: Date): Promise<boolean> {
  const run = await db
    .selectFrom('runs')
    .innerJoin('follow_ups', 'follow_ups.id', 'runs.follow_up_id')
    .select(['follow_ups.id', 'runs.ended_at'])
    .where('runs.id', '=', id)
    .where('runs.state', '=', 'settled')
    .where('runs.conversation_id', 'is', null)
    .where('runs.ended_at', '<', before.getTime())
    .where('follow_ups.recurring', '=', 1)
    .executeTakeFirst()
  if (!run) return false
  const newer = await db
    .selectFrom('runs')
    .select('id')
    .where('follow_up_id', '=', run.id)
    .where('ended_at', '>', run.ended_at)
    .limit(KEPT_FIRINGS)
    .execute()
  return newer.length === KEPT_FIRINGS
}

/** Whether the cycle is among the newest of a watch that exists. */
export async function isAmongNewest(db: Db, id: CycleId): Promise<boolean> {
  const newer = await db
    .selectFrom('cycles')
    .innerJoin('watches', 'watches.id', 'cycles.watch_id')
    .select('cycles.id')
    .where('watches.removed_at', 'is', null)
    .where('cycles.watch_id', '=', (eb) =>
      eb.selectFrom('cycles as own').select('own.watch_id').where('own.id', '=', id),
    )
    .where('cycles.id', '>=', id)
    .orderBy('cycles.id')
    .limit(KEPT_CYCLES + 1)
    .execute()
  return newer.length > 0 && newer.length <= KEPT_CYCLES
}
