/** How much to read of a growing file at a time: much where there is much, little otherwise. */
const MIN_CHUNK = 64 * 1024
const MAX_CHUNK = 1024 * 1024

export const FIRST_CHUNK = MIN_CHUNK

export const nextChunkSize = (asked: number, got: number) =>
  got === asked ? Math.min(asked * 2, MAX_CHUNK) : MIN_CHUNK
