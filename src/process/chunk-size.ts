/** The size of the next read of a growing file: it doubles while reads come back full, and is reset otherwise. */
const MIN_CHUNK = 64 * 1024
const MAX_CHUNK = 1024 * 1024

export const FIRST_CHUNK = MIN_CHUNK

export const nextChunkSize = (asked: number, got: number) =>
  got === asked ? Math.min(asked * 2, MAX_CHUNK) : MIN_CHUNK
