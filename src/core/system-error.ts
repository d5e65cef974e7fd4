/**
 * Temporary errors of the machine: it lacks something at present (disk space, descriptors, memory, processes), or a disk
 * refuses to work. Nobody is at fault, so they are waited out, like an outage of the model, and count against nothing.
 */

const TEMPORARY: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EBUSY',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOLCK',
  'ENOMEM',
  'ENOSPC',
  'EROFS',
  'ETXTBSY',
])

/** These are temporary only for Reprise's own files: elsewhere they say that the user may not do something. */
const FORBIDDEN: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM'])

/** The form of errors of Node.js and of Reprise. */
interface WithCause {
  code?: unknown
  path?: unknown
  message?: unknown
  cause?: unknown
}

/**
 * A description of the temporary error of the machine that caused `error`; null if none did. `ownDir` is the directory
 * of Reprise's own files.
 */
export function findTemporary(error: unknown, ownDir: string): string | null {
  let one = error as WithCause | null | undefined
  for (let depth = 0; typeof one === 'object' && one !== null && depth < 5; depth++) {
    const isOwn = typeof one.path === 'string' && one.path.startsWith(`${ownDir}/`)
    if (TEMPORARY.has(one.code) || one.code === 'home-unusable' || (FORBIDDEN.has(one.code) && isOwn))
      return String(one.message)
    one = one.cause as WithCause | null | undefined
  }
  return null
}

export const isTemporaryCode = (code: unknown): boolean => TEMPORARY.has(code)

/** The messages of the C library and of shells for the errors above; programs print them or the name of the error. */
const NAMED =
  /\b(?:EAGAIN|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM|ENOSPC)\b|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory|Resource temporarily unavailable|[Cc]an(?:'t|not) fork|Input\/output error/

/** Whether a program that ended without a result says that the machine lacked something. */
export const namesTemporary = (stderr: string): boolean => NAMED.test(stderr)

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

/** The pause after `failures` in a row, from 1. */
export const pauseAfterTemporaryMs = (failures: number): number =>
  Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10))
