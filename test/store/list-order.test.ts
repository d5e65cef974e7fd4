/** Lists in the order of last activity, page by page. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ConversationId } from '../../src/contract/ids.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { newConversation } from './change-feed.ts'
import { T0 } from './records.ts'

const at = (minutes: number) => new Date(T0.getTime() + minutes * 60_000)

test('what was used last comes first; a page continues after its cursor, also if a row has moved meanwhile', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-store-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const store = await openSqliteStore(join(dir, 'reprise.db'), T0)
  const ids = Array.from({ length: 5 }, (_, n) => ConversationId.create(at(n)))
  for (const id of ids) await store.createConversation(newConversation(id))
  const [a, b, c, d, e] = ids
  // Two of them at the same time: their ids decide.
  for (const [id, minute] of [
    [a, 50],
    [b, 10],
    [c, 30],
    [d, 30],
    [e, 20],
  ] as const) {
    if (id) await store.updateConversation(id, { title: 't' }, at(minute))
  }
  const page = async (cursor?: string, limit = 2) => {
    const { items, nextCursor } = await store.listConversations({ limit, cursor, sort: 'activity' })
    return { ids: items.map(({ id }) => id), nextCursor }
  }
  const first = await page()
  expect(first.ids).toEqual([a, d])
  if (d) await store.updateConversation(d, { title: 'again' }, at(60))
  const second = await page(first.nextCursor ?? '')
  expect(second.ids).toEqual([c, e])
  expect(await page(second.nextCursor ?? '')).toEqual({ ids: [b], nextCursor: null })
  expect((await page(undefined, 5)).ids).toEqual([d, a, c, e, b])
  const byCreation = await store.listConversations({ limit: 5 })
  expect(byCreation.items.map(({ id }) => id)).toEqual([e, d, c, b, a])
  // A cursor of the other order is refused.
  await expect(page(a)).rejects.toMatchObject({ code: 'bad-request' })
  await expect(store.listSessions({ limit: 1, sort: 'activity', cursor: 'x' })).rejects.toMatchObject({
    code: 'bad-request',
  })
  await store.close()
})
