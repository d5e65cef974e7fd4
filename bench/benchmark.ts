import type { Figure } from './figure.ts'

export interface Benchmark {
  name: string
  /** What is compared with what, for a reader of the results. */
  about: string
  run: (input: BenchmarkInput) => Promise<Figure[]>
}

export interface BenchmarkInput {
  /** A few iterations, to see that it works; its figures claim nothing. */
  short: boolean
}
