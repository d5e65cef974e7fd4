/** The data of older databases is found again after they are migrated. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { AttemptId, JobId, RunId, SessionId } from '../../src/contract/ids.ts'
import { MIGRATIONS, migrate } from '../../src/store/base/migrations/run.ts'
import { nodeSqliteDialect } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { at, ending, newRun, T0 } from './records.ts'

/** A database from before the migration with this number, with these rows in it. */
async function databaseBefore(number: number, rows: Record<string, Record<string, unknown>[]>) {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-migration-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'db')
  const db = new Kysely<Record<string, Record<string, unknown>>>({
    dialect: nodeSqliteDialect(new DatabaseSync(path)),
  })
  await migrate(
    db as Kysely<unknown>,
    T0,
    MIGRATIONS.filter((migration) => migration.number < number),
  )
  for (const [table, values] of Object.entries(rows)) {
    for (const row of values) await db.insertInto(table).values(row).execute()
  }
  await db.destroy()
  const store = await openSqliteStore(path, T0)
  onTestFinished(() => store.close())
  return store
}

const oldRun = (change: Record<string, unknown> = {}) => ({
  id: RunId.create(T0),
  agent: 'claude',
  work_dir: '/srv/project',
  prompt: 'do it',
  prompt_id: 'p',
  request: JSON.stringify(newRun().request),
  state: 'running',
  created_at: T0.getTime(),
  ...change,
})

const oldAttempt = (runId: RunId, sessionId: SessionId, change: Record<string, unknown> = {}) => ({
  id: AttemptId.create(T0),
  run_id: runId,
  number: 1,
  state: 'running',
  session_id: sessionId,
  agent_session_id: 's',
  resumed: 0,
  carry: 'none',
  prompt_id: 'p',
  fence: 3,
  pid: 4711,
  start_ticks: '99',
  boot_id: 'boot',
  spool_offset: 70,
  runtime: JSON.stringify({ id: 'r', command: null, version: '2', can: [] }),
  started_at: at(1).getTime(),
  ...change,
})

it('an attempt that was in progress keeps its process and its lease, and can be taken over and ended', async () => {
  const [open, over] = [oldRun(), oldRun({ state: 'settled', ended_at: 1 })]
  const [session, other] = [SessionId.create(T0), SessionId.create(T0)]
  const attempt = oldAttempt(open.id, session)
  const ended = oldAttempt(over.id, other, { state: 'ended', ended_at: at(5).getTime() })
  const store = await databaseBefore(40, {
    runs: [open, over],
    sessions: [session, other].map((id) => ({
      id,
      agent: 'claude',
      agent_session_id: 's',
      work_dir: '/srv/project',
      runtime_id: 'r',
      created_at: 1,
      last_used_at: 1,
    })),
    attempts: [attempt, ended],
    leases: [
      { session_id: session, attempt_id: attempt.id, run_id: open.id, fence: 3, acquired_at: 1 },
      { session_id: other, attempt_id: null, run_id: null, fence: 3, acquired_at: 1 },
    ],
  })
  const [left, ...more] = await store.listOpenProcesses()
  expect(more).toEqual([])
  expect(left).toMatchObject({
    process: {
      machineId: null,
      agent: 'claude',
      sessionId: session,
      spool: attempt.id,
      fence: 3,
      keeper: { pid: 4711, startTicks: '99', bootId: 'boot' },
      state: 'running',
      runtime: { id: 'r', version: '2' },
    },
    attempt: { id: attempt.id, spoolFrom: 0, spoolOffset: 70, runtime: { id: 'r' } },
  })
  expect(await store.findLeaseHolder(session)).toBe(open.id)
  expect(await store.findLeaseHolder(other)).toBeNull()
  expect(await store.listAttempts(over.id)).toMatchObject([{ id: ended.id, state: 'ended' }])
  const mine = await store.takeOver(left!.attempt!, at(9))
  expect(mine.fence).toBe(4)
  await store.endAttempt(ending(mine))
  expect(await store.listOpenProcesses()).toEqual([])
  expect(await store.findLeaseHolder(session)).toBeNull()
})

it('sessions from before their lifecycle was stored have a state and the totals of their runs', async () => {
  const ids = ['finished', 'cut off', 'unused'].map(() => SessionId.create(T0))
  const [finished, cutOff, unused] = ids
  const settled = (session_id: SessionId, outcome_name: string) =>
    oldRun({ state: 'settled', ended_at: 1, session_id, outcome_name, input_tokens: 10, output_tokens: 3 })
  const store = await databaseBefore(50, {
    sessions: ids.map((id) => ({
      id,
      agent: 'claude',
      agent_session_id: id,
      work_dir: '/srv/project',
      runtime_id: 'r',
      turns: id === unused ? 0 : 2,
      created_at: 1,
      last_used_at: 7,
    })),
    runs: [
      settled(finished!, 'crashed'),
      settled(finished!, 'completed'),
      settled(cutOff!, 'completed'),
      settled(cutOff!, 'turn-limit'),
    ],
  })
  const sessions = await Promise.all(ids.map((id) => store.getSession(id)))
  expect(sessions.map((session) => [session?.state, session?.stopReason, session?.messages])).toEqual([
    ['completed', 'completed', 4],
    ['active', 'turn-limit', 4],
    ['created', null, 0],
  ])
  expect(sessions[0]).toMatchObject({
    finished: true,
    stateAt: new Date(7),
    adopted: false,
    archivedAt: null,
    usage: { inputTokens: 20, outputTokens: 6 },
  })
})

it('keys that were used for runs, jobs and follow-ups still refer to what they made', async () => {
  const asked = newRun({ idempotencyKey: 'k', prompt: 'do it' })
  const promptHash = createHash('sha256').update(asked.prompt).digest('hex').slice(0, 16)
  const request = JSON.stringify({ ...asked.request, sessionId: null, promptHash })
  const run = oldRun({ state: 'queued', idempotency_key: 'k', request })
  const job = {
    id: JobId.create(T0),
    idempotency_key: 'k',
    request_hash: 'h',
    run_id: run.id,
    state: 'paused',
    attention: 'budget',
    options: '{}',
    priority: 2,
    created_at: 1,
    updated_at: 1,
  }
  const store = await databaseBefore(41, {
    runs: [run],
    jobs: [job],
    request_keys: [{ key: 'k', request_hash: 'x', made: 'fup_1' }],
  })
  expect(await store.admitRun(asked)).toMatchObject({ run: { id: run.id }, created: false })
  await expect(store.admitRun({ ...asked, prompt: 'something else' })).rejects.toMatchObject({
    code: 'conflict',
    details: { runId: run.id },
  })
  expect(await store.findJobByKey('k', 'h')).toMatchObject({ id: job.id, state: 'paused', priority: 2 })
  await expect(store.findJobByKey('k', 'other')).rejects.toMatchObject({ details: { jobId: job.id } })
  expect(await store.findMade({ key: 'k', requestHash: 'x' })).toBe('fup_1')
  expect((await store.listJobs({ limit: 9, state: 'paused' })).items).toHaveLength(1)
})

it('the interruptions of a run that were counted before still count', async () => {
  const run = oldRun({ crash_count: 3 })
  const store = await databaseBefore(43, { runs: [run] })
  expect(await store.getRun(run.id)).toMatchObject({ interruptions: 3 })
})

it('keeps actions with the call that claimed them', async () => {
  const attempt = { id: AttemptId.create(T0), runId: RunId.create(T0) }
  const action = (id: string, change: Record<string, unknown>) => ({
    id,
    rule: 'restart',
    service: 'web',
    run_id: attempt.runId,
    attempt_id: attempt.id,
    command: 'docker restart web',
    line: 'tool',
    at: T0.getTime(),
    ...change,
  })
  const store = await databaseBefore(47, {
    actions: [
      action('act_1', { tool_use_id: 'toolu_1' }),
      action('act_2', { tool_use_id: 'toolu_2', guard_id: 'call_2', started_at: T0.getTime() }),
      action('act_3', { line: 'guard', guard_id: 'call_3' }),
    ],
  })
  const found = await store.listActions({ since: at(-1) })
  expect(found.map(({ id, callId }) => [id, callId])).toEqual([
    ['act_1', 'toolu_1'],
    ['act_2', 'call_2'],
    ['act_3', 'call_3'],
  ])
})
