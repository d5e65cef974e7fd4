/** What every store must do for jobs. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import { JobId, RunId } from '../../src/contract/ids.ts'
import type { JobSort } from '../../src/contract/job.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'
import type { CheckpointRecord, JobRecord, NewJob } from '../../src/store/jobs/records.ts'
import type { NewRun } from '../../src/store/runs/records.ts'
import type { Store } from '../../src/store/store.ts'
import { at, ending, newAttempt, newRun, newSession, startAttempt, T0 } from './records.ts'

const newJob = (change: Partial<NewJob> = {}): NewJob => ({
  id: JobId.create(T0),
  idempotencyKey: null,
  requestHash: 'h',
  options: { checkpoints: null, workTree: null, webhook: null },
  priority: 0,
  maxBudgetUsd: null,
  maxBudgetTokens: null,
  createdAt: T0,
  ...change,
})

const runOf = (job: Pick<NewJob, 'id' | 'priority'>, change: Partial<NewRun> = {}): NewRun =>
  newRun({ job: { id: job.id, priority: job.priority, place: '/srv/project', holdsPlace: false }, ...change })

async function admit(
  store: Store,
  change: Partial<NewJob> = {},
  run: Partial<NewRun> = {},
): Promise<JobRecord> {
  const job = newJob(change)
  return (await store.admitJob({ job, run: runOf(job, run) })).job
}

async function start(store: Store, { runId }: JobRecord) {
  const run = await store.getRun(runId)
  const session = newSession()
  const attempt = await startAttempt(store, {
    attempt: newAttempt(run!, session),
    newSession: session,
    events: () => [],
  })
  return attempt!
}

async function settle(
  store: Store,
  job: JobRecord,
  name: OutcomeName,
  spent: { costUsd?: number } = {},
): Promise<JobRecord> {
  const outcome = { name, message: name }
  const end = ending(await start(store, job), { outcome, next: { kind: 'settle', outcome } })
  await store.endAttempt({ ...end, ...spent })
  return (await store.getJob(job.id))!
}

export function describeJobs(open: () => Promise<Store>): void {
  describe('a job', () => {
    it('is stored with its run, or not at all', async () => {
      const store = await open()
      const taken = newRun()
      await store.admitRun(taken)
      const job = newJob()
      await expect(store.admitJob({ job, run: runOf(job, { id: taken.id }) })).rejects.toThrow()
      expect(await store.getJob(job.id)).toBeNull()
    })

    it('is admitted once for a key, and refused for the same key with another request', async () => {
      const store = await open()
      const first = await admit(store, { idempotencyKey: 'k' })
      const job = newJob({ idempotencyKey: 'k' })
      expect(await store.admitJob({ job, run: runOf(job) })).toEqual({ job: first, created: false })
      const other = newJob({ idempotencyKey: 'k', requestHash: 'other' })
      await expect(store.admitJob({ job: other, run: runOf(other) })).rejects.toThrow('another request')
      expect((await store.listJobs({ limit: 10 })).items).toHaveLength(1)
    })

    it('follows its run: running, waiting, running, and however it ends', async () => {
      const store = await open()
      const job = await admit(store)
      const attempt = await start(store, job)
      expect((await store.getJob(job.id))?.state).toBe('running')
      await store.endAttempt(
        ending(attempt, { next: { kind: 'retry', notBefore: at(60), why: 'rate limit' }, at: at(9) }),
      )
      expect((await store.getJob(job.id))?.state).toBe('waiting')
      expect(await settle(store, job, 'completed')).toMatchObject({ state: 'completed', attention: null })
    })

    it.each([
      ['budget', 'paused', 'budget'],
      ['auth', 'paused', 'auth'],
      ['question-timeout', 'paused', 'question'],
      ['work-dir-changed', 'paused', 'work-dir'],
      ['api-error', 'failed', null],
      ['crashed', 'failed', null],
      ['cancelled', 'cancelled', null],
    ] as const)('whose run ended with %s is %s', async (name, state, attention) => {
      const store = await open()
      expect(await settle(store, await admit(store), name)).toMatchObject({ state, attention })
    })

    it('that was cancelled while it was queued is cancelled', async () => {
      const store = await open()
      const job = await admit(store)
      await store.settleQueued(job.runId, { name: 'cancelled', message: '' }, at(1))
      expect((await store.getJob(job.id))?.state).toBe('cancelled')
    })

    it('continues with one more run for one of many callers, and not while it is running or done', async () => {
      const store = await open()
      const job = await settle(store, await admit(store), 'api-error')
      const tries = await Promise.all(
        [1, 2, 3].map(() => store.continueJob(job.id, job.runId, runOf(job), at(20))),
      )
      expect(tries.filter((answer) => answer !== null)).toHaveLength(1)
      const again = (await store.getJob(job.id))!
      expect(again).toMatchObject({ state: 'queued', attention: null })
      expect((await store.listRunsOfJobs([job.id])).map(({ id }) => id)).toEqual([job.runId, again.runId])
      expect(await store.continueJob(job.id, again.runId, runOf(job), at(21))).toBeNull()
      const done = await settle(store, again, 'completed')
      expect(await store.continueJob(job.id, done.runId, runOf(job), at(30))).toBeNull()
    })

    it('is no longer changed by an earlier run', async () => {
      const store = await open()
      const job = await settle(store, await admit(store), 'api-error')
      await store.continueJob(job.id, job.runId, runOf(job), at(20))
      await store.settleQueued(job.runId, { name: 'cancelled', message: '' }, at(21))
      expect((await store.getJob(job.id))?.state).toBe('queued')
    })

    it('paused for its budget continues when that is raised, in the same step; others only change', async () => {
      const store = await open()
      const poor = await settle(store, await admit(store, { maxBudgetUsd: 1 }), 'budget')
      const raised = await store.updateJob(
        poor.id,
        { maxBudgetUsd: 5 },
        { after: poor.runId, run: runOf(poor) },
        at(20),
      )
      expect(raised).toMatchObject({ state: 'queued', maxBudgetUsd: 5 })
      const failed = await settle(store, await admit(store), 'api-error')
      const changed = await store.updateJob(
        failed.id,
        { maxBudgetTokens: 9, priority: 3 },
        { after: failed.runId, run: runOf(failed) },
        at(20),
      )
      expect(changed).toMatchObject({ state: 'failed', maxBudgetTokens: 9, priority: 3, runId: failed.runId })
      expect(await store.updateJob(JobId.create(T0), { priority: 1 }, null, at(20))).toBeNull()
    })

    it('that is paused can be given up; others cannot', async () => {
      const store = await open()
      const paused = await settle(store, await admit(store), 'auth')
      const run = runOf(paused)
      expect(await store.dismissJob(paused.id, paused.runId, run, at(20))).toBe(true)
      expect(await store.getJob(paused.id)).toMatchObject({
        state: 'cancelled',
        attention: null,
        runId: run.id,
      })
      const failed = await settle(store, await admit(store), 'api-error')
      expect(await store.dismissJob(failed.id, failed.runId, runOf(failed), at(20))).toBe(false)
      expect((await store.listRunsOfJobs([failed.id])).length).toBe(1)
    })

    it('that waits is due at once when it is hastened', async () => {
      const store = await open()
      const job = await admit(store)
      const attempt = await start(store, job)
      const next = { kind: 'retry', notBefore: at(600), why: '' } as const
      await store.endAttempt(ending(attempt, { next, at: at(9) }))
      expect(await store.listStartable(at(10), 5)).toEqual([])
      expect(await store.hastenRun(job.runId, at(10))).toBe(true)
      expect(await store.hastenRun(job.runId, at(10))).toBe(false)
      expect((await store.listStartable(at(10), 5)).map(({ id }) => id)).toEqual([job.runId])
      expect((await store.getJob(job.id))?.state).toBe('queued')
    })
  })

  describe('jobs', () => {
    it('start by priority, then in the order they came; also if it is changed while they wait', async () => {
      const store = await open()
      const [low, first, second, high] = [
        await admit(store, { priority: -1 }),
        await admit(store),
        await admit(store),
        await admit(store, { priority: 9 }),
      ]
      const order = async () => (await store.listStartable(at(1), 10)).map(({ id }) => id)
      expect(await order()).toEqual([high, first, second, low].map(({ runId }) => runId))
      await store.updateJob(low.id, { priority: 10 }, null, at(1))
      expect(await order()).toEqual([low, high, first, second].map(({ runId }) => runId))
    })

    it('are skipped if their agent or their directory is busy', async () => {
      const store = await open()
      const here = await admit(store)
      const job = newJob()
      const there = (
        await store.admitJob({
          job,
          run: runOf(job, {
            agent: 'other',
            job: { id: job.id, priority: 0, place: '/elsewhere', holdsPlace: false },
          }),
        })
      ).job
      const free = await store.admitRun(newRun())
      const offered = async (busy: { agents: string[]; places: string[] }) =>
        (await store.listStartable(at(1), 10, busy)).map(({ id }) => id)
      expect(await offered({ agents: [], places: ['/srv/project'] })).toEqual([there.runId, free.run.id])
      expect(await offered({ agents: ['other'], places: [] })).toEqual([here.runId, free.run.id])
      expect(await offered({ agents: ['other'], places: ['/srv/project'] })).toEqual([free.run.id])
    })

    it('that keep their directory exclude others while they wait, once they have begun', async () => {
      const store = await open()
      const job = newJob()
      const run = runOf(job, { job: { id: job.id, priority: 0, place: '/srv/project', holdsPlace: true } })
      const holder = (await store.admitJob({ job, run })).job
      const other = await admit(store)
      const offered = async () => (await store.listStartable(at(10), 10)).map(({ id }) => id)
      expect(await offered()).toEqual([holder.runId, other.runId])
      const next = { kind: 'retry', notBefore: at(600), why: '' } as const
      await store.endAttempt(ending(await start(store, holder), { next, at: at(9) }))
      expect(await offered()).toEqual([])
      await store.settleQueued(holder.runId, { name: 'cancelled', message: '' }, at(11))
      expect(await offered()).toEqual([other.runId])
    })

    it('are listed newest first, in pages, filtered by state if requested', async () => {
      const store = await open()
      const all = [await admit(store), await admit(store), await admit(store)]
      const ids = all.map(({ id }) => id).toReversed()
      const page = await store.listJobs({ limit: 2 })
      expect([page.items.map(({ id }) => id), page.nextCursor]).toEqual([ids.slice(0, 2), ids[1]])
      const rest = await store.listJobs({ limit: 2, cursor: page.nextCursor ?? '' })
      expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([ids.slice(2), null])
      await settle(store, all[0]!, 'api-error')
      expect((await store.listJobs({ limit: 5, state: 'failed' })).items.map(({ id }) => id)).toEqual([
        all[0]!.id,
      ])
      await expect(store.listJobs({ limit: 5, cursor: RunId.create(T0) })).rejects.toThrow('cursor')
    })

    it('is found by words of its prompt, directory and id, and sorted over all pages', async () => {
      const store = await open()
      const add = (prompt: string, workDir: string) => admit(store, {}, { prompt, workDir })
      const cheap = await add('Upgrade the HTTP client', '/srv/shop')
      const dear = await add('Audit 100% of it_all', '/srv/shop')
      const tried = await add('upgrade tests', '/srv/Blog')
      const ids = async (query: object) =>
        (await store.listJobs({ limit: 10, ...query })).items.map(({ id }) => id)
      expect(await ids({ q: 'UPGRADE' })).toEqual([tried.id, cheap.id])
      expect(await ids({ q: ' upgrade  shop' })).toEqual([cheap.id])
      expect(await ids({ q: 'blog' })).toEqual([tried.id])
      expect(await ids({ q: dear.id.slice(-8).toLowerCase() })).toEqual([dear.id])
      // These characters have no meaning of their own.
      expect(await ids({ q: '100%' })).toEqual([dear.id])
      expect(await ids({ q: 't_a' })).toEqual([dear.id])
      expect(await ids({ q: '%' })).toEqual([dear.id])

      await settle(store, cheap, 'completed', { costUsd: 0.25 })
      await settle(store, dear, 'api-error', { costUsd: 3.5 })
      const paged = async (sort: JobSort) => {
        const found: string[] = []
        for (let cursor: string | undefined; found.length < 9; ) {
          const page = await store.listJobs({ limit: 1, sort, cursor })
          found.push(...page.items.map(({ id }) => id))
          if (page.nextCursor === null) break
          cursor = page.nextCursor
        }
        return found
      }
      expect(await paged('newest')).toEqual([tried.id, dear.id, cheap.id])
      expect(await paged('oldest')).toEqual([cheap.id, dear.id, tried.id])
      expect(await paged('cost')).toEqual([dear.id, cheap.id, tried.id])
      expect(await paged('attempts')).toEqual([dear.id, cheap.id, tried.id])
      // The one that has not ended comes first.
      expect((await paged('time'))[0]).toBe(tried.id)
      expect(await ids({ sort: 'cost', state: 'failed' })).toEqual([dear.id])
      await expect(store.listJobs({ limit: 5, cursor: `x/${dear.id}` })).rejects.toThrow('cursor')
    })
  })

  describe('checkpoints', () => {
    const checkpoint = (jobId: JobId, number: number): CheckpointRecord => ({
      jobId,
      number,
      kind: 'agent',
      ref: `refs/reprise/${jobId}/${number}`,
      commit: 'c',
      tree: 't',
      head: null,
      attemptId: null,
      position: null,
      createdAt: at(number),
    })

    it('are kept by number, the newest of each, and deleted when their job ended long ago', async () => {
      const store = await open()
      const job = await admit(store)
      await store.addCheckpoint(checkpoint(job.id, 1))
      await store.addCheckpoint(checkpoint(job.id, 2))
      await store.addCheckpoint({ ...checkpoint(job.id, 2), commit: 'other' })
      expect(await store.listCheckpoints(job.id)).toEqual([
        checkpoint(job.id, 1),
        { ...checkpoint(job.id, 2), commit: 'other' },
      ])
      expect(await store.listJobsWithOldCheckpoints(at(999), 10)).toEqual([])
      await settle(store, job, 'completed')
      expect(await store.listJobsWithOldCheckpoints(at(0), 10)).toEqual([])
      expect((await store.listJobsWithOldCheckpoints(at(999), 10)).map(({ id }) => id)).toEqual([job.id])
      await store.deleteCheckpoints(job.id)
      expect(await store.listCheckpoints(job.id)).toEqual([])
      expect(await store.listJobsWithOldCheckpoints(at(999), 10)).toEqual([])
    })
  })
}
