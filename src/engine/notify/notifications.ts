/**
 * Sends the notifications in the outbox, a few at a time. Each is retried until it is accepted or given up. Delivery is
 * at least once: a notification that was sent but not marked when the daemon died is sent again with the same id. No
 * run waits for a notification or fails because of one. A wake only makes this look sooner.
 */
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { RepriseError } from '../../contract/errors.ts'
import { NotificationId } from '../../contract/ids.ts'
import type { NotificationTest } from '../../contract/notification.ts'
import type { Clock } from '../../core/clock.ts'
import { composeBody, composeVariables, type Sendable } from '../../core/notify/message.ts'
import {
  type Narrowing,
  type Notice,
  type PlannedNotification,
  planNotifications,
} from '../../core/notify/plan.ts'
import { decideAfterTry, type TryResult } from '../../core/notify/retry.ts'
import {
  type Command,
  type NotifyTarget,
  resolveTarget,
  showTarget,
  type TargetRef,
  targetKey,
  type Webhook,
} from '../../core/notify/target.ts'
import { type CommandEnd, runCommand } from '../../process/command.ts'
import { Dispatcher, type Startable } from '../../queue/dispatcher.ts'
import type { NotificationRecord } from '../../store/notify/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Notifications } from '../base/notifications.ts'
import { Detached, persist } from '../base/persist.ts'
import { AllowedHosts } from './addresses.ts'
import { postWebhook } from './webhook.ts'

export interface NotifySettings {
  targets: readonly NotifyTarget[]
  /** Hosts, addresses and networks that webhooks may be sent to besides public addresses. */
  allowedHosts: readonly string[]
  userAgent: string
  /** For commands: the only part of the daemon's environment that they get, and their work directory. */
  env: Readonly<Record<string, string>>
  workDir: string
  webhookTimeoutMs?: number
  commandTimeoutMs?: number
}

export interface NotifierParts {
  store: Store
  clock: Clock
  /** In [0, 1). */
  random: () => number
  log: Log
  settings: NotifySettings
}

type Outgoing = Sendable & { target: TargetRef }

const PARALLEL = 4
/** Limits deliveries per target, so that a target that hangs does not block the others. */
const PER_TARGET = 3
const WEBHOOK_TIMEOUT_MS = 10_000
const COMMAND_TIMEOUT_MS = 30_000
const CLOSE_MS = 1000
const ERROR_PAUSE_MS = 1000

export class Notifier implements Notifications {
  readonly #parts: NotifierParts
  readonly #allowed: AllowedHosts
  readonly #closing = new AbortController()
  readonly #sending = new Set<Promise<void>>()
  /** Results that could not be stored yet. These notifications must not be sent again. */
  readonly #unmarked = new Map<NotificationId, TryResult>()
  readonly #dispatcher: Dispatcher<NotificationRecord & Startable>

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#allowed = new AllowedHosts(parts.settings.allowedHosts)
    const { store, clock, log } = parts
    this.#dispatcher = new Dispatcher<NotificationRecord & Startable>({
      clock,
      limits: { concurrency: PARALLEL, perAgent: {}, perPlace: PER_TARGET },
      listStartable: async (now, limit, { places }) => {
        const due = await store.listDueNotifications(now, limit, places)
        return due.map((notification) => ({
          ...notification,
          agent: '',
          place: targetKey(notification.target),
        }))
      },
      nextDueAt: store.nextNotificationAt,
      start: (notification) => this.#track(this.#attend(notification)),
      onError: (error) => log.error({ error: String(error) }, 'could not look for notifications'),
    })
  }

  get targets(): string[] {
    return this.#parts.settings.targets.map(({ name }) => name)
  }

  plan(notice: Notice, webhook: string | null, narrowing?: Narrowing): PlannedNotification[] {
    return planNotifications(notice, this.#parts.settings.targets, webhook, narrowing)
  }

  async test(names?: readonly string[]): Promise<NotificationTest[]> {
    const { targets } = this.#parts.settings
    const unknown = names?.find((name) => !this.targets.includes(name))
    if (unknown !== undefined) {
      const known = this.targets.length === 0 ? 'none' : this.targets.join(', ')
      throw new RepriseError('bad-request', `there is no target notify.${unknown} (configured: ${known})`)
    }
    const chosen = targets.filter(({ name }) => names?.includes(name) ?? true)
    return Promise.all(chosen.map((target) => this.#test(target)))
  }

  async #test({ name, on, how }: NotifyTarget): Promise<NotificationTest> {
    const createdAt = this.#parts.clock.now()
    const id = NotificationId.create(createdAt)
    const result = await this.#send({
      id,
      createdAt,
      event: on[0] ?? 'attention',
      subject: { kind: 'test', id },
      payload: { state: 'test', message: `A test of notify.${name}. Nothing has happened.` },
      target: { name },
    }).catch(unexpected)
    const reason =
      result === null ? 'the daemon is ending' : result.kind === 'delivered' ? null : explainTry(result)
    return { target: name, kind: how.kind, on: [...on], delivered: reason === null, reason }
  }

  open(): void {
    this.#dispatcher.open()
  }

  wake(): void {
    this.#dispatcher.wake()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#dispatcher.close()
    const waited = new AbortController()
    await Promise.race([
      Promise.allSettled(this.#sending),
      delay(CLOSE_MS, undefined, { signal: waited.signal }).catch(() => {}),
    ])
    waited.abort()
  }

  #track(work: Promise<void>): Promise<void> {
    this.#sending.add(work)
    return work.finally(() => this.#sending.delete(work))
  }

  async #attend(notification: NotificationRecord): Promise<void> {
    const { id } = notification
    const result = this.#unmarked.get(id) ?? (await this.#send(notification).catch(unexpected))
    if (result === null) return
    this.#unmarked.set(id, result)
    try {
      await this.#note(notification, result)
      this.#unmarked.delete(id)
    } catch (error) {
      if (error instanceof Detached || this.#closing.signal.aborted) return
      this.#parts.log.error(
        { notification: id, error: String(error) },
        'could not store the result of a notification',
      )
      // The notification is still due, so wait before it is tried again.
      await delay(ERROR_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }

  /** Returns null if the delivery was aborted because the daemon is closing. */
  async #send(notification: Outgoing): Promise<TryResult | null> {
    const { targets, userAgent, webhookTimeoutMs: timeoutMs = WEBHOOK_TIMEOUT_MS } = this.#parts.settings
    const how = resolveTarget(notification.target, targets)
    if (how === null) {
      return { kind: 'refused', reason: `${showTarget(notification.target)} is no longer configured` }
    }
    if (how.kind === 'command') return this.#run(notification, how)
    const { id, event } = notification
    const parts = {
      userAgent,
      timeoutMs,
      allowed: this.#allowed,
      configuredHost: configuredHost(notification, how),
    }
    const message = { id, event, body: composeBody(notification) }
    return postWebhook(parts, how, message, this.#closing.signal)
  }

  async #run(notification: Outgoing, { command }: Command): Promise<TryResult | null> {
    const { env, workDir, commandTimeoutMs = COMMAND_TIMEOUT_MS } = this.#parts.settings
    const end = await runCommand({
      id: notification.id,
      command,
      env: { ...env, ...composeVariables(notification) },
      workDir,
      stdin: composeBody(notification),
      timeoutMs: commandTimeoutMs,
      abort: this.#closing.signal,
    })
    return judge(end, commandTimeoutMs)
  }

  async #note(notification: NotificationRecord, result: TryResult): Promise<void> {
    const { store, clock, log } = this.#parts
    const now = clock.now()
    const tries = notification.tries + 1
    const next = decideAfterTry(result, tries, now, this.#parts.random())
    const disk = { log, closing: this.#closing.signal }
    if (result.kind === 'delivered') {
      await persist(disk, () => store.markDelivered(notification, now))
      return
    }
    const error = explainTry(result)
    const notBefore = next.kind === 'retry' ? next.notBefore : null
    await persist(disk, () => store.markFailedTry(notification, error, notBefore, now))
    const { id, event, subject, target } = notification
    const fields = { notification: id, event, [subject.kind]: subject.id, target: showTarget(target), tries }
    if (notBefore) {
      log.info({ ...fields, reason: result.reason, retryAt: notBefore }, 'a notification was not accepted')
    } else log.warn({ ...fields, reason: result.reason }, 'gave up a notification')
  }
}

/**
 * A target of the configuration may name an address or `localhost` itself. Any other name may be resolved to something
 * that the person who wrote it did not mean, and the webhook of a job or a watch comes from a request.
 */
function configuredHost({ target }: Outgoing, { url }: Webhook): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return 'name' in target && (isIP(host) !== 0 || host === 'localhost') ? host : undefined
}

const explainTry = ({ reason, detail }: Exclude<TryResult, { kind: 'delivered' }>) =>
  detail ? `${reason}: ${detail}` : reason

/** The error message is left out, because it may contain an address. */
const unexpected = (error: unknown): TryResult => ({
  kind: 'failed',
  reason: `could not be sent (${(error as Error).name})`,
})

function judge(end: CommandEnd, timeoutMs: number): TryResult | null {
  const { output: detail } = end
  switch (end.kind) {
    case 'aborted':
      return null
    case 'exited':
      return end.code === 0
        ? { kind: 'delivered' }
        : { kind: 'failed', reason: `exit code ${end.code}`, detail }
    case 'killed':
      return { kind: 'failed', reason: `ended by ${end.by}`, detail }
    case 'timed-out':
      return { kind: 'failed', reason: `not finished within ${timeoutMs / 1000} s`, detail }
    case 'not-started':
      return { kind: 'failed', reason: `could not be started: ${end.why}`, detail }
  }
}
