/** Counts what a sweep deletes, or would delete. */
import { PRUNE_KINDS, type PruneKind, type PruneReport } from '../../contract/prune.ts'

export interface Amount {
  count: number
  bytes: number
}

export class Tally {
  readonly #amounts = new Map<PruneKind, Amount>()

  add(kind: PruneKind, { count, bytes }: Amount): void {
    const before = this.of(kind)
    this.#amounts.set(kind, { count: before.count + count, bytes: before.bytes + bytes })
  }

  of(kind: PruneKind): Amount {
    return this.#amounts.get(kind) ?? { count: 0, bytes: 0 }
  }

  items(): PruneReport['items'] {
    return PRUNE_KINDS.map((kind) => ({ kind, ...this.of(kind) })).filter(({ count }) => count > 0)
  }
}

/** The parameters of a sweep: the time, and whether it only counts. */
export interface Sweep {
  now: Date
  dryRun: boolean
  tally: Tally
}

/** Everything that ended before this is old; null: it is kept forever. */
export function cutoff({ now }: Pick<Sweep, 'now'>, keepMs: number): Date | null {
  return Number.isFinite(keepMs) ? new Date(now.getTime() - keepMs) : null
}
