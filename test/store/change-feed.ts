/** What every store's change feed must do. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import type { ChangeKind } from '../../src/contract/change.ts'
import type { EventBody } from '../../src/contract/events.ts'
import { ConversationId, JobId, MessageId } from '../../src/contract/ids.ts'
import type { ChangeRecord } from '../../src/store/changes/records.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import type { Store } from '../../src/store/store.ts'
import { waiting } from './escalations.ts'
import { planned } from './outbox.ts'
import { admitted, at, COMPLETED, ending, newRun, note, running, T0 } from './records.ts'
import { begun, MISSED, plan, watching } from './watch-records.ts'

export const newConversation = (id = ConversationId.create(T0)) => ({
  id,
  title: '',
  agent: 'claude',
  workDir: '/srv/project',
  instructions: null,
  historyScope: 'shared' as const,
  createdAt: T0,
})

export function describeChangeFeed(open: () => Promise<Store>): void {
  const all = async (store: Store) => (await store.listChanges({ after: 0, limit: 1000 })).items
  /** The entries that the work adds to the feed. */
  const during = async (store: Store, work: () => Promise<unknown>) => {
    const { newest } = await store.listChanges({ after: 0, limit: 1 })
    await work()
    return (await store.listChanges({ after: newest, limit: 1000 })).items
  }
  const seen = (changes: readonly ChangeRecord[], kind: ChangeKind) =>
    changes.filter((change) => change.kind === kind).map(({ id, state }) => ({ id, state }))

  describe('the change feed', () => {
    it('is empty at first', async () => {
      const store = await open()
      expect(await store.listChanges({ after: 0, limit: 9 })).toEqual({
        items: [],
        oldest: 1,
        newest: 0,
        tooOld: false,
      })
    })

    it('has the changes of a run, and what changes with it', async () => {
      const store = await open()
      const { run, session, attempt } = await running(store)
      await store.endAttempt(ending(attempt))
      const changes = await all(store)
      expect(seen(changes, 'run')).toEqual(
        ['queued', 'running', 'settled'].map((state) => ({ id: run.id, state })),
      )
      expect(seen(changes, 'session')).toEqual([
        { id: session.id, state: 'created' },
        { id: session.id, state: 'active' },
      ])
      expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, index) => index + 1))
    })

    it('has no agent output, but questions and their answers', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      expect(
        await during(store, () => store.advanceAttempt(attempt, EventBatch.of([note('a')]), 9, at(2))),
      ).toEqual([])
      const ask = {
        type: 'permission-ask',
        requestId: 'r1',
        toolUseId: 't1',
        tool: 'Bash',
        input: {},
      } as unknown as EventBody
      const changes = await during(store, async () => {
        await store.advanceAttempt(attempt, EventBatch.of([ask]), 19, at(3))
        await store.answerQuestion(run.id, { toolUseId: 't1', decision: 'allow' }, 'person', at(4))
        await store.endAttempt(ending(attempt))
      })
      expect(seen(changes, 'question')).toEqual(
        ['open', 'answered', 'closed'].map((state) => ({ id: `${run.id}/t1`, state })),
      )
    })

    it('has jobs, conversations, messages, approvals, watches, cycles, follow-ups, obstacles and notifications', async () => {
      const store = await open()
      const jobId = JobId.create(T0)
      const job = {
        id: jobId,
        options: { checkpoints: null, workTree: null, webhook: null },
        priority: 0,
        maxBudgetUsd: null,
        maxBudgetTokens: null,
        createdAt: T0,
        idempotencyKey: null,
        requestHash: '',
      }
      const jobRun = newRun({ job: { id: jobId, priority: 0, place: '/', holdsPlace: false } })
      const jobs = await during(store, async () => {
        await store.admitJob({ job, run: jobRun })
        await store.settleQueued(jobRun.id, COMPLETED, at(1))
      })
      expect(seen(jobs, 'job')).toEqual(['queued', 'completed'].map((state) => ({ id: jobId, state })))

      const conversation = await store.createConversation(newConversation())
      const messageId = MessageId.create(T0)
      const talk = await during(store, async () => {
        await store.admitTurn({ messageId, conversationId: conversation.id, run: newRun() })
        await store.deleteConversation(conversation.id, at(2))
      })
      expect(seen(talk, 'message')).toEqual([
        { id: messageId, state: 'complete' },
        { id: messageId, state: 'deleted' },
      ])
      expect(seen(talk, 'conversation')).toEqual([
        { id: conversation.id, state: null },
        { id: conversation.id, state: 'deleted' },
      ])
      expect(seen(talk, 'run').map(({ state }) => state)).toEqual(['queued', 'settled'])

      const tier = await running(store, { tier: { number: 1, parentRunId: null } })
      const asked = await during(store, () =>
        store.endAttempt(
          ending(tier.attempt, {
            effects: [store.effects.escalate(waiting(tier.run.id, 60)), store.effects.notify([planned()])],
          }),
        ),
      )
      expect(seen(asked, 'approval')).toEqual([{ id: tier.run.id, state: 'ask' }])
      expect(seen(asked, 'notification').map(({ state }) => state)).toEqual(['pending'])

      const watch = await watching(store)
      const { cycle } = await begun(store, watch)
      const followUp = await plan(store)
      const watched = await during(store, async () => {
        await store.endFollowUp(followUp.id, MISSED, at(3))
        await store.removeWatch(watch.id, at(4))
      })
      expect(seen(watched, 'follow-up')).toEqual([{ id: followUp.id, state: 'missed' }])
      expect(seen(watched, 'watch')).toEqual([{ id: watch.id, state: 'removed' }])
      expect(seen(await all(store), 'cycle').at(-1)).toEqual({ id: cycle.id, state: 'open' })

      const other = await running(store)
      const access = { account: 'acc', model: 'm' }
      const met = { kind: 'outage', scope: 'account', message: 'away' } as never
      const pauses = { jitter: 0 } as never
      const obstacle = await during(store, async () => {
        await store.meetObstacle(met, { ...other.attempt, ...access }, pauses, at(5))
        await store.closeObstacles(access, other.run.id, at(6), at(6))
      })
      expect(seen(obstacle, 'obstacle')).toEqual([
        { id: 'acc/', state: 'outage' },
        { id: 'acc/', state: 'deleted' },
      ])
    })

    it('has nothing of what was rolled back', async () => {
      const store = await open()
      const { attempt } = await running(store)
      const stale = { ...attempt, fence: attempt.fence + 1 }
      const changes = await during(store, () =>
        Promise.allSettled([store.endAttempt(ending(stale)), store.putFact('k', 'v')]),
      )
      expect(changes).toEqual([])
    })

    it('notifies listeners in this process after the commit, and survives a listener that throws', async () => {
      const store = await open()
      const told: number[] = []
      store.onChanges(() => {
        throw new Error('a bad listener')
      })
      const stop = store.onChanges((newest) => told.push(newest))
      await admitted(store)
      await store.putFact('k', 'v')
      await admitted(store)
      stop()
      await admitted(store)
      expect(told).toEqual([1, 2])
    })

    it('deletes old changes, and says so to readers that have not seen them', async () => {
      const store = await open()
      for (let i = 0; i < 10; i++) await admitted(store)
      expect(await store.deleteChanges({ before: new Date(0), keep: 4 })).toBe(6)
      const page = await store.listChanges({ after: 6, limit: 2 })
      expect(page).toMatchObject({ oldest: 7, newest: 10, tooOld: false, items: [{ seq: 7 }, { seq: 8 }] })
      expect(await store.listChanges({ after: 5, limit: 9 })).toEqual({
        items: [],
        oldest: 7,
        newest: 10,
        tooOld: true,
      })
      expect(await store.deleteChanges({ before: at(99_999_999), keep: 4 })).toBe(4)
      expect(await store.listChanges({ after: 10, limit: 9 })).toMatchObject({ items: [], tooOld: false })
      expect(await store.listChanges({ after: 9, limit: 9 })).toMatchObject({ items: [], tooOld: true })
      // A number of another database, or of one that was restored from a copy.
      expect(await store.listChanges({ after: 11, limit: 9 })).toMatchObject({ items: [], tooOld: true })
      await admitted(store)
      expect((await store.listChanges({ after: 10, limit: 9 })).items).toMatchObject([{ seq: 11 }])
    })
  })
}
