/** The public interface of references: what people mean by a part of an id, or by `last`. */
import type { Referable } from '../../contract/reference.ts'

export interface Referred {
  kind: Referable
  id: string
}

export interface ReferenceEngine {
  /**
   * Finds what is meant. With a `kind`, something of another kind that belongs to one of this kind stands for it: a
   * job for its current run, a run for its job.
   */
  resolve: (text: string, kind: Referable | null) => Promise<Referred>
}
