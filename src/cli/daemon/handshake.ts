/**
 * The messages from a daemon in the background to the command that started it. The daemon says when it does something
 * that takes long, and in the end that it is ready, or why it is not.
 */
import { type ErrorBody, RepriseError, toRepriseError } from '../../contract/errors.ts'

export interface Ready {
  url: string
  pid: number
  simulator: string | null
  notices: string[]
}

type Handshake = { ready: Ready } | { failed: ErrorBody['error'] }

/** Returns whether a command was told. */
export function tellWorking(what: string): boolean {
  if (!process.send || !process.connected) return false
  // With a callback, because otherwise a command that has just been killed would end this process by an error.
  process.send({ working: what }, undefined, {}, () => {})
  return true
}

/** Returns the work that the message reports; null if the message is about something else. */
export function readWorking(message: unknown): string | null {
  const { working } = message as { working?: unknown }
  return typeof working === 'string' ? working : null
}

/** Tells the command that started this process, if there is one and it still listens. */
export async function tellReady(ready: Ready): Promise<void> {
  await tell({ ready })
}

/** Returns whether a command was told. */
export async function tellFailed(error: unknown): Promise<boolean> {
  return tell({ failed: toRepriseError(error).toBody().error })
}

async function tell(handshake: Handshake): Promise<boolean> {
  if (!process.send || !process.connected) return false
  await new Promise<void>((resolve) => process.send?.(handshake, undefined, {}, () => resolve()))
  if (process.connected) process.disconnect()
  return true
}

export function readHandshake(message: unknown): Ready {
  const handshake = message as Handshake
  if ('ready' in handshake) return handshake.ready
  const { code, message: text, hint, details } = handshake.failed
  throw new RepriseError(code, text, { ...(hint === undefined ? {} : { hint }), details })
}
