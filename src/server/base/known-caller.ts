/** What is known about the caller of a request once it was authenticated (caller.ts). */
import type { Context } from 'hono'
import type { Caller } from '../../engine/api.ts'

/** Finds out who made a request, or throws `unauthorized`. */
export type Authenticate = (c: Context) => Caller

const CALLER = 'caller'

export const setCaller = (c: Context, caller: Caller): void => c.set(CALLER, caller)

/** Who called; null for operations that need no token. */
export const callerOf = (c: Context): Caller | null => (c.get(CALLER) as Caller | undefined) ?? null

/** The address of the sender; null if the request came over the Unix socket. */
export function addressOf(c: Context): string | null {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } }
  return incoming?.socket?.remoteAddress?.replace(/^::ffff:/, '') ?? null
}
