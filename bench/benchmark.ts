import type { Figure } from './figure.ts'

export interface Benchmark {
  name: string
  /** What is compared with what, for readers of the results. */
  about: string
  run: (input: BenchmarkInput) => Promise<Figure[]>
}

export interface BenchmarkInput {
  /** Only a few iterations, to show that the benchmark works; its figures are not meaningful. */
  short: boolean
}
