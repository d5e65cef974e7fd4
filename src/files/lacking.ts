/**
 * Tells errors about a file from those of a machine that has no descriptor or no memory left. The latter say nothing about
 * the file: a caller that took them for "there is none" would start without a session that is there, or would not see
 * a process that uses it. They are thrown, so that the caller waits (core/system-error.ts).
 */
const LACKING: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

export function throwIfLacking(error: unknown): void {
  if (LACKING.has((error as NodeJS.ErrnoException | null)?.code)) throw error
}

/** A handler for `catch`: `fallback` after an error about the file. */
export const unlessLacking =
  <T>(fallback: T) =>
  (error: unknown): T => {
    throwIfLacking(error)
    return fallback
  }
