/** A store in a folder of its own, a clock that the test moves, and notifiers that can be replaced by another. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PlannedNotification } from '../../src/core/notify/plan.ts'
import type { NotifyTarget } from '../../src/core/notify/target.ts'
import { Notifier, type NotifySettings } from '../../src/engine/notify/notifications.ts'
import type { NotificationRecord } from '../../src/store/notify/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { planned } from '../store/outbox.ts'
import { T0 } from '../store/records.ts'

export interface Stage {
  dir: string
  store: Store
  logged: string[]
  /** Opens a notifier; the one before is closed. */
  open: (targets: readonly NotifyTarget[], change?: Partial<NotifySettings>) => Promise<Notifier>
  close: () => Promise<void>
  note: (change?: Partial<PlannedNotification>) => Promise<NotificationRecord>
  /** Lets the time come in which all that wait are due. */
  passTime: () => Promise<void>
  /** Resolves when the notification has had so many tries, or has ended. */
  tried: (notification: NotificationRecord, tries: number) => Promise<NotificationRecord>
}

export async function setStage(): Promise<Stage> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-notify-')))
  const real = await openSqliteStore(join(dir, 'reprise.db'), T0)
  const marks = new Set<() => void>()
  const told = <Args extends unknown[], T>(mark: (...args: Args) => Promise<T>) => {
    return async (...args: Args) => {
      const result = await mark(...args)
      for (const look of marks) look()
      return result
    }
  }
  const store: Store = {
    ...real,
    markDelivered: told(real.markDelivered),
    markFailedTry: told(real.markFailedTry),
  }
  let now = T0
  const logged: string[] = []
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`)
  let notifier: Notifier | null = null
  const close = async () => {
    await notifier?.close()
    notifier = null
  }
  onTestFinished(async () => {
    await close()
    await real.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const find = async ({ id, subject }: NotificationRecord) =>
    (await store.listNotifications(subject)).find((record) => record.id === id) as NotificationRecord

  return {
    dir,
    store,
    logged,
    close,
    open: async (targets, change = {}) => {
      await close()
      notifier = new Notifier({
        store,
        clock: { now: () => now, monotonicMs: () => now.getTime() },
        random: () => 0.5,
        log: { info: log, warn: log, error: log },
        settings: {
          targets,
          allowedHosts: ['127.0.0.0/8'],
          userAgent: 'reprise/1.2.3',
          env: { PATH: process.env.PATH ?? '' },
          workDir: dir,
          ...change,
        },
      })
      notifier.open()
      return notifier
    },
    note: async (change = {}) => {
      const item = planned(change)
      await store.enqueueNotifications([item], now)
      notifier?.wake()
      return (await store.listNotifications(item.subject)).at(-1) as NotificationRecord
    },
    passTime: async () => {
      now = (await store.nextNotificationAt(now)) ?? now
      notifier?.wake()
    },
    tried: (notification, tries) =>
      new Promise((resolve) => {
        const look = async () => {
          const record = await find(notification)
          if (record.tries < tries && record.state.at === 'pending') return
          marks.delete(look)
          resolve(record)
        }
        marks.add(look)
        void look()
      }),
  }
}

export const hook = (url: string, secret: string | null = null, name = 'chat'): NotifyTarget => ({
  name,
  on: ['done', 'failed', 'attention'],
  how: { kind: 'webhook', url, headers: {}, secret },
})

export const line = (command: string, name = 'chat'): NotifyTarget => ({
  name,
  on: ['done', 'failed', 'attention'],
  how: { kind: 'command', command },
})
