/** What every store must do when the clock was set, or the daemon was suspended. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { claim } from './actions.ts'
import { waiting } from './escalations.ts'
import { planned } from './outbox.ts'
import { at, ending, running, T0 } from './records.ts'

const DAY = 86_400

export function describeClockChanges(open: () => Promise<Store>): void {
  const move = (store: Store, jump: number, missed = 0) =>
    store.moveTimes({ jumpMs: jump * 1000, missedMs: missed * 1000, watches: [], clock: '{"n":1}' })

  describe('when the clock was set', () => {
    it('an unsettled run moves with all of its attempts; a settled one stays where it was', async () => {
      const store = await open()
      const [queued, active, over] = [await running(store), await running(store), await running(store)]
      const next = { kind: 'retry', notBefore: at(600), why: 'limit' } as const
      await store.endAttempt(ending(queued.attempt, { next }))
      await store.endAttempt(ending(over.attempt))
      await move(store, -DAY)
      expect(await store.getRun(queued.run.id)).toMatchObject({
        state: { at: 'queued', notBefore: at(600 - DAY) },
        createdAt: at(-DAY),
      })
      const attemptOf = async ({ run }: typeof active) => (await store.listAttempts(run.id))[0]
      expect(await attemptOf(queued)).toMatchObject({ startedAt: at(1 - DAY), endedAt: at(9 - DAY) })
      expect(await attemptOf(active)).toMatchObject({ startedAt: at(1 - DAY), endedAt: null })
      expect(await attemptOf(over)).toMatchObject({ startedAt: at(1), endedAt: at(9) })
      expect(await store.getFact('clock')).toBe('{"n":1}')
    })

    it('pending notifications and actions on services move with it', async () => {
      const store = await open()
      const item = planned()
      await store.enqueueNotifications([item], T0)
      await store.claimActions(claim())
      await move(store, 2 * DAY)
      expect((await store.listNotifications(item.subject))[0]?.state).toEqual({
        at: 'pending',
        notBefore: at(2 * DAY),
      })
      expect((await store.listActions({ since: T0 })).map((action) => action.at)).toEqual([at(2 * DAY)])
    })

    it('the time for an approval moves with it, and by the time in which the daemon was suspended', async () => {
      const store = await open()
      const { run, attempt } = await running(store, { tier: { number: 1, parentRunId: null } })
      await store.endAttempt(ending(attempt, { effects: [store.effects.escalate(waiting(run.id, 60))] }))
      await move(store, 0, 3600)
      expect((await store.getEscalation(run.id))?.expiresAt).toEqual(at(3660))
      await move(store, -DAY, 10)
      expect((await store.getEscalation(run.id))?.expiresAt).toEqual(at(3670 - DAY))
    })

    it('an outage keeps its duration, less the time in which the daemon was suspended', async () => {
      const store = await open()
      const met = { kind: 'outage', scope: 'account', message: 'away', resetsAt: null } as const
      const { attempt, run } = await running(store)
      const access = { account: 'a', model: 'haiku', id: attempt.id, runId: run.id, startedAt: T0 }
      const opened = await store.meetObstacle(met, access, { backoffMs: 60_000, jitter: 0 }, at(100))
      const leftMs = opened.nextTryAt.getTime() - at(100).getTime()
      await move(store, 2 * DAY, 3600)
      const [moved] = await store.listObstacles(at(200 + 2 * DAY))
      expect(moved).toMatchObject({
        since: at(100 + 2 * DAY + 3600),
        lastFailureAt: at(100 + 2 * DAY),
        nextTryAt: new Date(at(100 + 2 * DAY).getTime() + leftMs),
      })
    })

    it('after a restart of the machine, nothing waits longer than it was meant to', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const next = { kind: 'retry', notBefore: at(9 + 600), why: 'limit' } as const
      await store.endAttempt(ending(attempt, { next }))
      const until = async () => (await store.getRun(run.id))?.state
      await store.limitWaits(at(100))
      expect(await until()).toMatchObject({ notBefore: at(609) })
      await store.limitWaits(at(-DAY))
      expect(await until()).toMatchObject({ notBefore: at(600 - DAY) })
      await store.postponeRun(run.id, at(5), 'busy')
      await store.limitWaits(at(-DAY))
      expect(await until()).toMatchObject({ notBefore: at(-DAY) })
    })
  })
}
