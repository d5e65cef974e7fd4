/** What a sweep of the database deletes and what it must leave, on a real store with a clock of the test's own. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import type { EventBody } from '../../../src/contract/events.ts'
import {
  ConversationId,
  CycleId,
  JobId,
  MessageId,
  type RunId,
  type WatchId,
} from '../../../src/contract/ids.ts'
import { sweepRows } from '../../../src/engine/retention/rows.ts'
import { Tally } from '../../../src/engine/retention/tally.ts'
import { MIGRATIONS, migrate } from '../../../src/store/base/migrations/run.ts'
import { EventBatch } from '../../../src/store/runs/event-batch.ts'
import type { NewRun, RunRecord } from '../../../src/store/runs/records.ts'
import type { NewSession } from '../../../src/store/runs/session-records.ts'
import { nodeSqliteDialect } from '../../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { waiting } from '../../store/escalations.ts'
import { planned } from '../../store/outbox.ts'
import {
  admitted,
  ending,
  newAttempt,
  newRun,
  newSession,
  note,
  startAttempt,
  T0,
} from '../../store/records.ts'
import { begun, cycleEnd, MISSED, newCycle, plan, watching } from '../../store/watch-records.ts'
import { base } from '../../support/memory/store.ts'

const DAY_MS = 86_400_000
const day = (days: number) => new Date(T0.getTime() + days * DAY_MS)
const KEEP = { runsMs: 90 * DAY_MS, eventsMs: 30 * DAY_MS, sessionsMs: 180 * DAY_MS, auditMs: 365 * DAY_MS }

async function setUp() {
  const dir = mkdtempSync(join(base, 'reprise-keep-'))
  const path = join(dir, 'db')
  const store = await openSqliteStore(path, T0, { commitWindowMs: 0 })
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const sweep = async (days: number, { dryRun = false, keep = {}, store: used = store } = {}) => {
    const tally = new Tally()
    const { signal: closing } = new AbortController()
    const deps = { store: used, closing, settings: { keep: { ...KEEP, ...keep } } }
    await sweepRows(deps, { now: day(days), dryRun, tally })
    return Object.fromEntries(tally.items().map(({ kind, count }) => [kind, count]))
  }
  return { store, path, sweep }
}

/** A run that was admitted at once and ended on that day, with some events. */
async function ended(
  store: Store,
  days: number,
  change: Partial<NewRun> = {},
  { session = newSession(), events = [] as EventBody[], isNew = true } = {},
): Promise<{ run: RunRecord; session: NewSession }> {
  const run = await admitted(store, change)
  return finish(store, run, days, { session, events, isNew })
}

async function finish(
  store: Store,
  run: RunRecord,
  days: number,
  { session = newSession(), events = [] as EventBody[], isNew = true } = {},
): Promise<{ run: RunRecord; session: NewSession }> {
  const attempt = await startAttempt(store, {
    attempt: newAttempt(run, session, { resumed: !isNew }),
    newSession: isNew ? session : null,
    events: (number) => [note(`attempt ${number}`)],
  })
  if (!attempt) throw new Error('expected the attempt to start')
  await store.advanceAttempt(attempt, EventBatch.of(events), 10, day(days))
  await store.endAttempt(ending(attempt, { at: day(days) }))
  return { run, session }
}

const text = (words: string): EventBody => ({ type: 'text-end', text: words }) as EventBody
const exists = async (store: Store, { id }: { id: RunId }) => (await store.getRun(id)) !== null

it('an old run goes with all its rows; a younger one, an open one and the totals stay', async () => {
  const { store, path, sweep } = await setUp()
  const { run: old } = await ended(store, 1, { idempotencyKey: 'k' }, { events: [text('a'), text('b')] })
  const { run: young } = await ended(store, 50)
  const open = await admitted(store)
  const stats = await store.readStats()
  expect(await sweep(95)).toMatchObject({ runs: 1 })
  expect([await exists(store, old), await exists(store, young), await exists(store, open)]).toEqual([
    false,
    true,
    true,
  ])
  const left = new DatabaseSync(path)
  onTestFinished(() => left.close())
  const count = (from: string) =>
    Number(Object.values(left.prepare(`select count(*) from ${from}`).get() ?? {})[0])
  for (const table of ['attempts', 'events', 'questions', 'escalations'])
    expect([table, count(`${table} where run_id = '${old.id}'`)]).toEqual([table, 0])
  expect([count('processes'), count('request_keys'), count('runs')]).toEqual([1, 0, 2])
  expect(await store.readStats()).toEqual(stats)
  expect(await store.countRuns()).toEqual({ queued: 1, running: 0, settled: 2 })
  // The key can be used again: what it had made is gone.
  expect((await store.admitRun(newRun({ idempotencyKey: 'k' }))).created).toBe(true)
})

it('a dry run says the same and changes nothing', async () => {
  const { store, path, sweep } = await setUp()
  for (let n = 0; n < 5; n++) await ended(store, n, {}, { events: [text('x'), text('y')] })
  await ended(store, 60, {}, { events: [text('x'), text('y'), text('z')] })
  await store.endFollowUp((await plan(store, { createdBy: 'person' })).id, MISSED, day(2))
  const dump = () => {
    const db = new DatabaseSync(path)
    const tables = db.prepare("select name from sqlite_master where type = 'table'").all()
    const rows = tables.map(({ name }) => [name, db.prepare(`select * from ${name}`).all()])
    db.close()
    return JSON.stringify(rows)
  }
  const before = dump()
  const said = await sweep(95, { dryRun: true })
  expect(dump()).toBe(before)
  expect(said).toMatchObject({ runs: 5 })
  expect(await sweep(95)).toEqual(said)
  expect(await sweep(95)).toEqual({})
})

it('the events of a run go before the run; how its attempts went stays, and a note says so', async () => {
  const { store, sweep } = await setUp()
  const many = Array.from({ length: 4500 }, (_, index) => text(`line ${index}`))
  const { run } = await ended(store, 1, {}, { events: many })
  expect(await sweep(30)).toEqual({})
  expect(await sweep(40)).toEqual({ events: 4500 })
  const events = await store.listEvents(run.id)
  expect(events.map(({ body }) => body.type)).toEqual(['note', 'note', 'run-end'])
  expect(JSON.stringify(events[1]?.body)).toContain('keep.events')
  expect(events.at(-1)?.seq).toBe(4502)
  expect(await store.getRun(run.id)).toMatchObject({ resultText: 'done' })
  expect(await sweep(40)).toEqual({})
})

it('a run stays while its session is used, or a session that has its history', async () => {
  const { store, sweep } = await setUp()
  const { run: first, session } = await ended(store, 1, {}, { events: [text('x')] })
  const { run: second } = await ended(store, 85, { sessionId: session.id }, { session, isNew: false })
  const heir = newSession({ continues: session.id })
  expect(await sweep(100)).toEqual({})
  expect([await exists(store, first), await exists(store, second)]).toEqual([true, true])
  const { run: third } = await ended(store, 150, {}, { session: heir })
  expect(await sweep(200)).toEqual({ events: 1 })
  expect(await exists(store, first)).toBe(true)
  // Nobody continues any of them.
  expect(await sweep(400)).toMatchObject({ runs: 3, sessions: 1 })
  expect(await exists(store, third)).toBe(false)
})

it('a planned follow-up and an open run keep the runs of their session', async () => {
  const { store, sweep } = await setUp()
  const planned = await ended(store, 1, {}, { events: [text('x')] })
  const { id } = planned.run
  await plan(store, { runId: id, sessionId: planned.session.id, dueAt: day(300) })
  const awaited = await ended(store, 1, {}, { events: [text('x')] })
  await admitted(store, { sessionId: awaited.session.id })
  expect(await sweep(200)).toEqual({})
  await store.endFollowUpsOfRun(id, MISSED, day(200))
  expect(await sweep(200)).toMatchObject({ runs: 1, 'follow-ups': 1 })
  expect([await exists(store, planned.run), await exists(store, awaited.run)]).toEqual([false, true])
})

it('a conversation keeps its runs; their events go when it has not changed for a while', async () => {
  const { store, sweep } = await setUp()
  const { id } = await store.createConversation({
    id: ConversationId.create(T0),
    title: '',
    agent: 'claude',
    workDir: '/srv/project',
    instructions: null,
    historyScope: 'shared',
    createdAt: T0,
  })
  const turn = async (days: number) => {
    const { run } = await store.admitTurn({
      messageId: MessageId.create(T0),
      conversationId: id,
      run: newRun({ createdAt: day(days) }),
    })
    return finish(store, run, days, { events: [text('x')] })
  }
  const { run } = await turn(1)
  await turn(60)
  expect(await sweep(80)).toEqual({})
  expect(await sweep(400)).toEqual({ events: 2 })
  expect(await exists(store, run)).toBe(true)
  expect(await store.listMessages(id)).not.toEqual([])
  // Deleted by a person: they go at once, with their sessions, whatever their age.
  await store.deleteConversation(id, day(400))
  expect(await store.listDeletedSessions()).toHaveLength(2)
  expect(await sweep(400, { keep: { runsMs: Number.POSITIVE_INFINITY } })).toMatchObject({ runs: 2 })
  expect(await exists(store, run)).toBe(false)
})

it('the runs of a job go together, with the job, and never while it can go on by itself or needs a person', async () => {
  const { store, sweep } = await setUp()
  const admit = async (days: number, outcome: 'completed' | 'budget') => {
    const job = {
      id: JobId.create(T0),
      idempotencyKey: null,
      requestHash: 'h',
      options: { checkpoints: null, workTree: null, webhook: null },
      priority: 0,
      maxBudgetUsd: null,
      maxBudgetTokens: null,
      createdAt: T0,
    }
    const run = newRun({ job: { id: job.id, priority: 0, place: '/srv', holdsPlace: false } })
    await store.admitJob({ job, run })
    const session = newSession()
    const attempt = await startAttempt(store, {
      attempt: newAttempt(run, session),
      newSession: session,
      events: () => [],
    })
    const end = { name: outcome, message: outcome }
    await store.endAttempt(
      ending(attempt!, { at: day(days), outcome: end, next: { kind: 'settle', outcome: end } }),
    )
    return { job, run }
  }
  const done = await admit(1, 'completed')
  const paused = await admit(1, 'budget')
  expect((await store.getJob(paused.job.id))?.state).toBe('paused')
  expect(await sweep(95)).toMatchObject({ runs: 1, jobs: 1 })
  expect([await store.getJob(done.job.id), await exists(store, done.run)]).toEqual([null, false])
  expect(await exists(store, paused.run)).toBe(true)
})

it('a chain goes as a whole or not at all, so that its cost stays right', async () => {
  const { store, sweep } = await setUp()
  const root = await ended(store, 1, { tier: { number: 1, parentRunId: null } })
  const leaf = await ended(store, 50, { tier: { number: 2, parentRunId: root.run.id } })
  const later = await ended(store, 60, { budgetOf: leaf.run.id })
  expect(await sweep(100)).toMatchObject({})
  for (const { run } of [root, leaf, later]) expect(await exists(store, run)).toBe(true)
  expect(await sweep(155)).toMatchObject({ runs: 3 })
  for (const { run } of [root, leaf, later]) expect(await exists(store, run)).toBe(false)
})

it('a run that waits for approval stays, with the chain that it belongs to', async () => {
  const { store, sweep } = await setUp()
  const run = await admitted(store, { tier: { number: 1, parentRunId: null } })
  const session = newSession()
  const attempt = await startAttempt(store, {
    attempt: newAttempt(run, session),
    newSession: session,
    events: () => [],
  })
  const asked = store.effects.escalate(waiting(run.id, 300 * 86_400))
  await store.endAttempt(ending(attempt!, { at: day(1), effects: [asked] }))
  expect(await sweep(200)).toEqual({})
  expect((await store.getEscalation(run.id))?.decision).toBe('ask')
})

it('a group that must stay is looked at once in a sweep, not once for each of its runs', async () => {
  const { store, sweep } = await setUp()
  const root = await ended(store, 1, {}, { events: [text('x')] })
  for (let n = 0; n < 5; n++) await ended(store, 1, { budgetOf: root.run.id }, { events: [text('x')] })
  await plan(store, { runId: root.run.id, sessionId: root.session.id, dueAt: day(300) })
  const looked: string[] = []
  const looking: Partial<Store> = {
    deleteGroup: (...args) => {
      looked.push('runs')
      return store.deleteGroup(...args)
    },
    thinEvents: (...args) => {
      looked.push('events')
      return store.thinEvents(...args)
    },
  }
  expect(await sweep(200, { store: { ...store, ...looking } })).toEqual({})
  expect(looked).toEqual(['runs', 'events'])
  await store.endFollowUpsOfRun(root.run.id, MISSED, day(200))
  expect(await sweep(200, { keep: { runsMs: Number.POSITIVE_INFINITY } })).toEqual({ events: 6 })
})

it('cycles go with their runs, skipped ones by themselves; the newest of a watch stay, until it is removed', async () => {
  const { store, sweep } = await setUp()
  const watch = await watching(store)
  const ids: CycleId[] = []
  for (let n = 0; n < 25; n++) {
    const { cycle, run } = await begun(store, watch)
    await finish(store, (await store.getRun(run.id))!, 1)
    await store.endCycle(cycle.id, cycleEnd(), day(1))
    ids.push(cycle.id)
  }
  const open = await begun(store, watch)
  for (let n = 0; n < 3; n++) await store.addCycle(newCycle(watch, { skip: 'the last one is open' }))
  await finish(store, (await store.getRun(open.run.id))!, 1)
  await store.endCycle(open.cycle.id, cycleEnd(), day(1))
  expect(await sweep(95)).toMatchObject({ cycles: 9, runs: 9 })
  expect(await store.getCycle(ids[0]!)).toBeNull()
  expect(await store.getCycle(open.cycle.id)).not.toBeNull()
  const left = (await store.listCycles({ watchId: watch.id, limit: 100 })).items
  expect(left).toHaveLength(20)
  await store.removeWatch(watch.id, day(95))
  await sweep(95)
  expect((await store.listCycles({ watchId: watch.id, limit: 100 })).items).toEqual([])
})

it('old cycles go, however many of other watches must stay', async () => {
  const { store, sweep } = await setUp()
  const skipped = (watch: { id: WatchId }, id = CycleId.create(T0)) =>
    store.addCycle(newCycle(watch, { id, skip: 'the last one is open' }))
  for (let n = 0; n < 27; n++) {
    const watch = await watching(store)
    await Promise.all(Array.from({ length: 20 }, () => skipped(watch)))
  }
  const removed = await watching(store)
  const last = await skipped(removed, CycleId.create(day(1)))
  await store.removeWatch(removed.id, day(1))
  expect(await sweep(95)).toEqual({ cycles: 1 })
  expect(await store.getCycle(last.id)).toBeNull()
})

it('notifications that were sent and ended follow-ups go; what is pending or planned stays', async () => {
  const { store, sweep } = await setUp()
  const ending = await plan(store, { createdBy: 'person', sessionId: newSession().id })
  const waiting = await plan(store, { createdBy: 'person', sessionId: newSession().id, dueAt: day(500) })
  await store.endFollowUp(ending.id, { state: 'cancelled', by: 'person', message: null }, day(1))
  const [sent, pending] = [planned(), planned()]
  await store.enqueueNotifications([sent, pending], day(1))
  const [record] = await store.listNotifications(sent.subject)
  await store.markDelivered(record!, day(1))
  expect(await sweep(95)).toEqual({ 'follow-ups': 1, notifications: 1 })
  expect(await store.listNotifications(sent.subject)).toEqual([])
  expect(await store.listNotifications(pending.subject)).toHaveLength(1)
  expect(await store.getFollowUp(ending.id)).toBeNull()
  expect(await store.getFollowUp(waiting.id)).not.toBeNull()
})

it('the runs of a recurring follow-up lose their events while it goes on, except for the newest', async () => {
  const { store, sweep } = await setUp()
  const planning = await ended(store, 1, {}, { events: [text('x')] })
  const recurring = await plan(store, {
    runId: planning.run.id,
    sessionId: planning.session.id,
    cron: '0 9 * * *',
    recurring: true,
    dueAt: day(500),
  })
  const fired = []
  for (let days = 2; days < 32; days++) {
    const change = { followUpId: recurring.id, parentRunId: planning.run.id, sessionId: planning.session.id }
    const one = { session: planning.session, events: [text(`day ${days}`)], isNew: false }
    fired.push((await ended(store, days, change, one)).run)
  }
  // Ten are older than the newest twenty. The chain itself goes on, so no run goes.
  expect(await sweep(100, { dryRun: true })).toEqual({ events: 10 })
  expect(await sweep(100)).toEqual({ events: 10 })
  expect(await sweep(100)).toEqual({})
  const said = async ({ id }: RunRecord) =>
    (await store.listEvents(id)).some(({ body }) => body.type === 'text-end')
  expect([await said(fired[9]!), await said(fired[10]!), await said(planning.run)]).toEqual([
    false,
    true,
    true,
  ])
})

it('what deleted runs have cost stays in the costs of their period', async () => {
  const { store, sweep } = await setUp()
  await ended(store, 1)
  await ended(store, 1)
  await ended(store, 80)
  const periods = [
    { since: day(0) },
    { since: day(0), until: day(2) },
    { since: day(2), until: day(100) },
    { since: day(2), until: day(3) },
  ]
  const costs = () => Promise.all(periods.map((period) => store.listCosts(period)))
  const before = await costs()
  expect(before.map((rows) => rows.reduce((sum, { runs }) => sum + runs, 0))).toEqual([3, 2, 1, 0])
  expect(before[0]![0]!.costUsd).toBeGreaterThan(0)
  expect(await sweep(95)).toMatchObject({ runs: 2 })
  expect(await costs()).toEqual(before)
  expect(await sweep(300)).toMatchObject({ runs: 1 })
  expect(await costs()).toEqual(before)
})

it('the old part of the record of who did what goes', async () => {
  const { store, sweep } = await setUp()
  const note = (days: number) =>
    store.addAudit({
      at: day(days),
      tokenId: null,
      who: 'somebody',
      from: null,
      operation: 'createRun',
      subject: null,
      summary: `day ${days}`,
    })
  await note(1)
  await note(300)
  expect(await sweep(370, { dryRun: true })).toEqual({ audit: 1 })
  expect(await sweep(370)).toEqual({ audit: 1 })
  expect((await store.listAudit({ limit: 9 })).map(({ summary }) => summary)).toEqual(['day 300'])
})

it('with `forever` nothing goes', async () => {
  const { store, sweep } = await setUp()
  const { run } = await ended(store, 1, {}, { events: [text('x')] })
  const forever = Number.POSITIVE_INFINITY
  const keep = { runsMs: forever, eventsMs: forever, sessionsMs: forever, auditMs: forever }
  expect(await sweep(100_000, { keep })).toEqual({})
  expect(await store.listEvents(run.id)).toHaveLength(3)
})

it('a session in use or referred to is not deleted; a deleted one is not found any more', async () => {
  const { store } = await setUp()
  const { session } = await ended(store, 1)
  const queued = await admitted(store, { sessionId: session.id })
  await expect(store.markSessionDeleted(session.id, day(2))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(queued.id),
  })
  await store.settleQueued(queued.id, { name: 'cancelled', message: 'cancelled' }, day(2))
  const followUp = await plan(store, { sessionId: session.id })
  await expect(store.markSessionDeleted(session.id, day(2))).rejects.toMatchObject({
    message: expect.stringContaining(followUp.id),
  })
  await store.endFollowUp(followUp.id, { state: 'cancelled', by: 'person', message: null }, day(2))
  await store.markSessionDeleted(session.id, day(2))
  expect([await store.getSession(session.id), await store.findSession(session.agentSessionId)]).toEqual([
    null,
    null,
  ])
  expect((await store.listSessions({ limit: 10 })).items).toEqual([])
  const late = await admitted(store)
  const attempt = newAttempt(late, session, { resumed: true })
  expect(
    await startAttempt(store, { attempt, newSession: null, events: () => [] }),
    'prepared before',
  ).toBeNull()
  expect((await store.getRun(late.id))?.state.at).toBe('queued')
  expect(await store.listDeletedSessions()).toMatchObject([
    { session: { id: session.id }, with: 'session', agentSessionIds: [session.agentSessionId] },
  ])
  await store.forgetSession(session.id)
  expect(await store.listDeletedSessions()).toEqual([])
})

it('the file becomes smaller, in steps, also if the database was made before it could', async () => {
  const { store, path, sweep } = await setUp()
  const long = 'long '.repeat(2000)
  for (let n = 0; n < 30; n++) await ended(store, 1, { prompt: long }, { events: Array(20).fill(text(long)) })
  await store.shrink({ thorough: true })
  const full = statSync(path).size
  expect(full).toBeGreaterThan(4_000_000)
  await sweep(95)
  const stopped = await store.shrink({ thorough: true, signal: AbortSignal.abort() })
  expect(stopped.afterBytes).toBe(stopped.beforeBytes)
  const { beforeBytes, afterBytes } = await store.shrink({ thorough: false })
  expect(afterBytes).toBeLessThan(beforeBytes / 2)
  expect(statSync(path).size).toBe(afterBytes)
  expect((await store.shrink({ thorough: true })).afterBytes).toBeLessThan(full / 5)

  const old = `${path}-old`
  const database = new DatabaseSync(old)
  const before = MIGRATIONS.filter(({ number }) => number < 53)
  await migrate(new Kysely({ dialect: nodeSqliteDialect(database) }), T0, before)
  database.exec(`insert into facts values ('long', '${'x'.repeat(3_000_000)}'); delete from facts`)
  expect(database.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 0 })
  database.close()
  const converted = await openSqliteStore(old, T0)
  onTestFinished(() => converted.close())
  expect((await converted.shrink({ thorough: false })).afterBytes).toBeLessThan(1_000_000)
  expect(statSync(old).size).toBeLessThan(1_000_000)
})
