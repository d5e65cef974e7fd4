/** Whom to tell, as configured. */
import type { NotifyEvent } from '../../contract/notification.ts'

export interface Webhook {
  kind: 'webhook'
  url: string
  headers: Readonly<Record<string, string>>
  /** The body is signed with it. */
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
 * What is stored of a target. A configured one only by name: so its secret stays in the configuration, and a retry
 * goes where the configuration says by then.
 */
export type TargetRef = { name: string } | { webhook: string }

/** The same for the same target, and for no other. */
export function targetKey(ref: TargetRef): string {
  return JSON.stringify('name' in ref ? { name: ref.name } : { webhook: ref.webhook })
}

/** null: it is no longer configured. */
export function resolveTarget(ref: TargetRef, targets: readonly NotifyTarget[]): Webhook | Command | null {
  if ('webhook' in ref) return { kind: 'webhook', url: ref.webhook, headers: {}, secret: null }
  return targets.find(({ name }) => name === ref.name)?.how ?? null
}

/** For logs. An address may hold a secret, so it is not shown. */
export function showTarget(ref: TargetRef): string {
  return 'name' in ref ? `notify.${ref.name}` : 'a webhook of its own'
}
