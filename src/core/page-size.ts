/**
 * How many events to read at a time. They may be twenty bytes or eight megabytes each, so the size of the last page
 * decides: small enough that a page of them fits in memory easily, large enough that small ones come quickly.
 */
export const START_PAGE = 8
const MAX_PAGE = 256
const TARGET_CHARS = 512 * 1024

export function nextPageSize(current: number, chars: number): number {
  if (chars > TARGET_CHARS) return Math.max(1, Math.floor((current * TARGET_CHARS) / chars))
  return Math.min(MAX_PAGE, current * 2)
}
