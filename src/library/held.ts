import { RepriseError } from '../contract/errors.ts'

/**
 * Whether a home is locked by a daemon: it is starting and will soon be usable, or it is ending. Another program keeps
 * its home until it ends.
 */
export function isHeldByDaemon(error: unknown): boolean {
  if (!(error instanceof RepriseError) || error.code !== 'home-locked') return false
  return (error.details as { kind?: unknown } | null | undefined)?.kind !== 'program'
}
