/** Finds the purpose of a run. The first one that claims the run has it; the last one claims every run. */
import type { RunRecord } from '../../store/runs/records.ts'
import type { RunPurpose } from './purpose.ts'

export class Purposes {
  readonly #all: readonly RunPurpose[]
  readonly #plain: RunPurpose

  constructor(special: readonly RunPurpose[], plain: RunPurpose) {
    this.#all = special
    this.#plain = plain
  }

  of(run: RunRecord): RunPurpose {
    return this.#all.find((purpose) => purpose.claims(run)) ?? this.#plain
  }
}
