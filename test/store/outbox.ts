/** What every store's outbox must do. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import { JobId } from '../../src/contract/ids.ts'
import type { PlannedNotification } from '../../src/core/notify/plan.ts'
import { targetKey } from '../../src/core/notify/target.ts'
import type { NotificationRecord } from '../../src/store/notify/records.ts'
import type { Store } from '../../src/store/store.ts'
import { at, T0 } from './records.ts'

export const planned = (change: Partial<PlannedNotification> = {}): PlannedNotification => ({
  event: 'done',
  subject: { kind: 'job', id: JobId.create(T0) },
  occurrence: 'run 1',
  payload: { state: 'completed', message: null },
  target: { name: 'chat' },
  ...change,
})

export function describeOutbox(open: () => Promise<Store>): void {
  /** Enqueues a notification and returns the stored record. */
  const noted = async (store: Store, change: Partial<PlannedNotification> = {}, when = T0) => {
    const item = planned(change)
    await store.enqueueNotifications([item], when)
    return (await store.listNotifications(item.subject)).at(-1) as NotificationRecord
  }
  const due = async (store: Store, seconds: number, limit = 100) =>
    (await store.listDueNotifications(at(seconds), limit)).map(({ id }) => id)

  describe('the outbox', () => {
    it('returns what was enqueued, pending and due at once', async () => {
      const store = await open()
      const item = planned({
        payload: { state: 'failed', message: 'NUL \u0000 and 😀', deep: [{ n: 1 }] },
        target: { webhook: 'https://example.com/hook' },
      })
      expect(await store.enqueueNotifications([item], at(5))).toBe(1)
      const [record] = await store.listNotifications(item.subject)
      expect(record).toEqual({
        ...item,
        id: expect.stringMatching(/^ntf_/),
        state: { at: 'pending', notBefore: at(5) },
        tries: 0,
        lastError: null,
        createdAt: at(5),
      })
      expect(await store.listDueNotifications(at(5), 10)).toEqual([record])
      expect(await store.listDueNotifications(at(4), 10)).toEqual([])
      expect(await store.listNotifications({ kind: 'job', id: JobId.create(T0) })).toEqual([])
    })

    it('takes each event once for each target, however often it is enqueued', async () => {
      const store = await open()
      const item = planned()
      const toTwo = [item, { ...item, target: { webhook: 'https://example.com' } }]
      const added = await Promise.all(Array.from({ length: 5 }, () => store.enqueueNotifications(toTwo, T0)))
      expect(added.reduce((sum, count) => sum + count)).toBe(2)
      const [first] = await store.listNotifications(item.subject)
      if (first) await store.markDelivered(first, at(1))
      expect(await store.enqueueNotifications([item], at(2))).toBe(0)
      expect(await store.enqueueNotifications([{ ...item, occurrence: 'run 2' }], at(2))).toBe(1)
      expect(await store.enqueueNotifications([{ ...item, event: 'failed' }], at(2))).toBe(1)
      expect(await store.listNotifications(item.subject)).toHaveLength(4)
    })

    it('never returns a delivered one as due, and does not mark it again', async () => {
      const store = await open()
      const record = await noted(store)
      expect(await store.markDelivered(record, at(3))).toBe(true)
      expect(await due(store, 1e6)).toEqual([])
      expect(await store.markDelivered(record, at(4))).toBe(false)
      expect(await store.markFailedTry(record, 'late', at(5), at(4))).toBe(false)
      expect(await store.listNotifications(record.subject)).toEqual([
        { ...record, state: { at: 'delivered', deliveredAt: at(3) }, tries: 1 },
      ])
    })

    it('waits after a failed try, and says when it is next due', async () => {
      const store = await open()
      const record = await noted(store)
      expect(await store.nextNotificationAt(at(0))).toBeNull()
      expect(await store.markFailedTry(record, 'answered 500', at(60), at(1))).toBe(true)
      expect(await due(store, 59)).toEqual([])
      expect(await store.nextNotificationAt(at(1))).toEqual(at(60))
      expect(await store.nextNotificationAt(at(60))).toBeNull()
      const [again] = await store.listDueNotifications(at(60), 10)
      expect(again).toMatchObject({ id: record.id, tries: 1, lastError: 'answered 500' })
      expect(await store.markDelivered(record, at(61)), 'by someone who saw an earlier try').toBe(false)
    })

    it('never returns a given-up one as due, and keeps the reason', async () => {
      const store = await open()
      const record = await noted(store)
      await store.markFailedTry(record, 'answered 410', null, at(2))
      expect(await due(store, 1e6)).toEqual([])
      expect(await store.nextNotificationAt(T0)).toBeNull()
      expect(await store.listNotifications(record.subject)).toMatchObject([
        { state: { at: 'given-up', givenUpAt: at(2) }, tries: 1, lastError: 'answered 410' },
      ])
    })

    it('sends the notifications of one subject to a target in order', async () => {
      const store = await open()
      const { subject } = planned()
      const first = await noted(store, { subject, event: 'attention' })
      const second = await noted(store, { subject, event: 'done' }, at(1))
      const elsewhere = await noted(store, { subject, target: { name: 'phone' } }, at(2))
      const another = await noted(store, {}, at(3))
      expect(await due(store, 10)).toEqual([first.id, elsewhere.id, another.id])
      await store.markFailedTry(first, 'answered 500', at(100), at(10))
      expect(await due(store, 10), 'while the first waits').toEqual([elsewhere.id, another.id])
      expect(await due(store, 100)).toEqual([elsewhere.id, another.id, first.id])
      await store.markDelivered({ ...first, tries: 1 }, at(100))
      expect(await due(store, 100)).toEqual([second.id, elsewhere.id, another.id])
      expect(await due(store, 100, 1)).toEqual([second.id])
      const notBusy = await store.listDueNotifications(at(100), 9, [targetKey({ name: 'chat' })])
      expect(notBusy.map(({ id }) => id)).toEqual([elsewhere.id])
    })

    it('deletes what ended long ago, and nothing else', async () => {
      const store = await open()
      const delivered = await noted(store)
      const givenUp = await noted(store)
      const fresh = await noted(store)
      const pending = await noted(store)
      await store.markDelivered(delivered, at(1))
      await store.markFailedTry(givenUp, 'no', null, at(2))
      await store.markDelivered(fresh, at(10))
      expect(await store.deleteEndedNotifications(at(10))).toBe(2)
      expect(await store.listNotifications(delivered.subject)).toEqual([])
      expect(await store.listNotifications(fresh.subject)).toHaveLength(1)
      expect(await due(store, 20)).toEqual([pending.id])
    })
  })
}
