/** Decides which kept processes are given up because of time, number or memory. */

export interface KeptLimits {
  /** How long a process is kept after its turn. 0: not at all. */
  keepMs: number
  maxProcesses: number
  maxBytes: number
}

export interface KeptUse {
  /** When it ended its last turn. */
  sinceMs: number
  untilMs: number
  bytes: number
}

export interface MemoryLeft {
  availableBytes: number
  totalBytes: number
  stalledPercent: number
}

/** Below this share of its memory, the machine needs what is left for processes that work. */
const MIN_AVAILABLE = 0.1
/** Processes that wait for memory for this share of the time slow down everything. */
const MAX_STALLED_PERCENT = 10

export const isShort = ({ availableBytes, totalBytes, stalledPercent }: MemoryLeft): boolean =>
  availableBytes < totalBytes * MIN_AVAILABLE || stalledPercent > MAX_STALLED_PERCENT

/** Returns the processes that must end, with the reason. If there are too many, the least recently used ones end. */
export function whoGoes<T extends KeptUse>(
  kept: readonly T[],
  memory: MemoryLeft,
  limits: KeptLimits,
  nowMs: number,
): { kept: T; why: string }[] {
  if (isShort(memory)) return kept.map((one) => ({ kept: one, why: 'the machine is short of memory' }))
  const [expired, fresh] = [kept.filter((k) => k.untilMs <= nowMs), kept.filter((k) => k.untilMs > nowMs)]
  let bytes = 0
  const tooMany = fresh
    .toSorted((a, b) => b.sinceMs - a.sinceMs)
    .filter((one, index) => {
      bytes += one.bytes
      return index >= limits.maxProcesses || bytes > limits.maxBytes
    })
  return [
    ...expired.map((one) => ({ kept: one, why: 'it was kept long enough' })),
    ...tooMany.map((one) => ({ kept: one, why: 'too many processes are kept' })),
  ]
}
