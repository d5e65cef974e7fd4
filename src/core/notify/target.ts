/** The configured targets of notifications. */
import type { NotifyEvent } from '../../contract/notification.ts'

export interface Webhook {
  kind: 'webhook'
  url: string
  headers: Readonly<Record<string, string>>
  /** The key with which the body is signed; null: no signature. */
  secret: string | null
}

export interface Command {
  kind: 'command'
  /** A line for the shell. */
  command: string
}

export interface NotifyTarget {
  name: string
  on: readonly NotifyEvent[]
  how: Webhook | Command
}

/**
 * The stored reference to a target. A configured target is stored by name only, so that its secret stays in the
 * configuration and a retry uses the configuration of that time.
 */
export type TargetRef = { name: string } | { webhook: string }

/** A unique key of the target. */
export function targetKey(ref: TargetRef): string {
  return JSON.stringify('name' in ref ? { name: ref.name } : { webhook: ref.webhook })
}

/** null: the target is no longer configured. */
export function resolveTarget(ref: TargetRef, targets: readonly NotifyTarget[]): Webhook | Command | null {
  if ('webhook' in ref) return { kind: 'webhook', url: ref.webhook, headers: {}, secret: null }
  return targets.find(({ name }) => name === ref.name)?.how ?? null
}

/** The target's name for logs. An address may contain a secret, so it is not shown. */
export function showTarget(ref: TargetRef): string {
  return 'name' in ref ? `notify.${ref.name}` : 'its own webhook'
}
