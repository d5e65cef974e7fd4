/** A reader of the change feed misses nothing and sees nothing twice, whatever is written or killed meanwhile. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { MessageId } from '../../src/contract/ids.ts'
import type { ChangeRecord } from '../../src/store/changes/records.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { newConversation } from './change-feed.ts'
import { planned } from './outbox.ts'
import { admitted, at, COMPLETED, ending, newRun, note, running, T0 } from './records.ts'
import { begun, MISSED, plan, watching } from './watch-records.ts'

function temporaryDatabase(): string {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-feed-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'db')
}

/** Follows the feed as the dashboard would: from number to number, some at a time. */
class Reader {
  readonly seen: ChangeRecord[] = []

  async read(store: Store, limit: number): Promise<boolean> {
    const { items, tooOld } = await store.listChanges({ after: this.seen.at(-1)?.seq ?? 0, limit })
    expect(tooOld).toBe(false)
    this.seen.push(...items)
    return items.length > 0
  }

  async readAll(store: Store): Promise<void> {
    while (await this.read(store, 100));
  }
}

/** The rows that the feed reports, as they are now: a reader of the feed must have the same. */
function readStates(path: string): Map<string, string | null> {
  const database = new DatabaseSync(path)
  try {
    const rows = database
      .prepare(
        `select 'run' as kind, id, state from runs
         union all select 'session', id, state from sessions
         union all select 'conversation', id, null from conversations
         union all select 'message', id, state from messages
         union all select 'watch', id, case when removed_at is null then state else 'removed' end from watches
         union all select 'cycle', id, state from cycles
         union all select 'follow-up', id, state from follow_ups
         union all select 'notification', id, state from notifications`,
      )
      .all() as { kind: string; id: string; state: string | null }[]
    return new Map(rows.map(({ kind, id, state }) => [`${kind} ${id}`, state]))
  } finally {
    database.close()
  }
}

function check(seen: readonly ChangeRecord[], path: string): void {
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1))
  const last = new Map(seen.map(({ kind, id, state }) => [`${kind} ${id}`, state]))
  const present = new Map([...last].filter(([, state]) => state !== 'deleted'))
  const byKey = (states: Map<string, string | null>) => [...states].toSorted(([a], [b]) => (a < b ? -1 : 1))
  expect(byKey(present)).toEqual(byKey(readStates(path)))
}

const WORK: Record<string, (store: Store, index: number) => Promise<unknown>> = {
  admit: (store) => admitted(store),
  admitTwice: async (store, index) => {
    const idempotencyKey = `key ${index}`
    const run = newRun({ idempotencyKey })
    await Promise.all([store.admitRun(run), store.admitRun({ ...run, id: newRun().id })])
  },
  end: async (store) => store.endAttempt(ending((await running(store)).attempt)),
  stream: async (store) => {
    const { attempt } = await running(store)
    await store.advanceAttempt(attempt, EventBatch.of([note('a')]), 9, at(2))
  },
  fail: async (store) => {
    const { attempt } = await running(store)
    const stale = { ...attempt, fence: attempt.fence + 1 }
    await Promise.allSettled([store.endAttempt(ending(stale)), admitted(store)])
  },
  cancel: async (store) => store.settleQueued((await admitted(store)).id, COMPLETED, at(1)),
  talk: async (store) => {
    const { id } = await store.createConversation(newConversation())
    const messageId = MessageId.create(T0)
    await store.admitTurn({ messageId, conversationId: id, run: newRun() })
    await store.editMessage(id, messageId, 'other words', at(2))
    await store.deleteConversation(id, at(3))
  },
  watch: async (store, index) => {
    const watch = await watching(store, { name: `watch ${index}` })
    await begun(store, watch)
    await store.removeWatch(watch.id, at(9))
  },
  followUp: async (store) => store.endFollowUp((await plan(store)).id, MISSED, at(3)),
  notify: (store, index) => store.enqueueNotifications([planned({ occurrence: `${index}` })], at(1)),
}

it('a reader who pages along with random writers sees every change once, in order, none skipped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...Object.keys(WORK)), { minLength: 1, maxLength: 6 }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.integer({ min: 1, max: 20 }),
      fc.boolean(),
      async (writers, limit, reopens) => {
        const path = temporaryDatabase()
        const reader = new Reader()
        let index = 0
        for (const phase of reopens ? [0, 1] : [0]) {
          const store = await openSqliteStore(path, at(phase), { commitWindowMs: 1 })
          let done = false
          const reading = (async () => {
            while (!done) {
              if (!(await reader.read(store, limit))) await new Promise((go) => setImmediate(go))
            }
          })()
          await Promise.all(
            writers.map(async (names) => {
              for (const name of names) await WORK[name]?.(store, index++)
            }),
          )
          done = true
          await reading
          if (phase === 0 && reopens) {
            await store.close()
            continue
          }
          await reader.readAll(store)
          await store.close()
        }
        check(reader.seen, path)
      },
    ),
    { numRuns: 10 },
  )
})

it('also if the writer is killed, and another continues', async () => {
  const path = temporaryDatabase()
  const script = join(import.meta.dirname, 'fixtures', 'changes-until-killed.mjs')
  const reader = new Reader()
  for (const upTo of [100, 200, 300]) {
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let told = 0
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        told = Math.max(told, ...chunk.split('\n').map(Number))
        if (told >= upTo) child.kill('SIGKILL')
      })
      child.once('close', (_, signal) =>
        signal === 'SIGKILL' ? resolve() : reject(new Error(`ended by ${signal}`)),
      )
    })
    const store = await openSqliteStore(path, T0)
    await reader.readAll(store)
    await store.close()
    expect(reader.seen.length).toBeGreaterThanOrEqual(told)
    check(reader.seen, path)
  }
})
