/**
 * How many events to read at a time. An event has between twenty bytes and eight megabytes, so the page size is adapted
 * to the size of the last page: small enough to fit into memory, large enough to read small events quickly.
 */
export const START_PAGE = 8
const MAX_PAGE = 256
const TARGET_CHARS = 512 * 1024

export function nextPageSize(current: number, chars: number): number {
  if (chars > TARGET_CHARS) return Math.max(1, Math.floor((current * TARGET_CHARS) / chars))
  return Math.min(MAX_PAGE, current * 2)
}
