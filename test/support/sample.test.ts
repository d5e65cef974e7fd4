import { expect, it, vi } from 'vitest'
import { chooseSample, sampleOf } from './sample.ts'

const MATRIX = ['a', 'b', 'c'].flatMap((row) => ['1', '2', '3', '4', '5'].map((column) => [row, column]))
const kindsOf = (one: readonly string[]) => one
const SEEDS = Array.from({ length: 100 }, (_, seed) => seed)

it('has every kind, in as few cases as possible, whatever the seed', () => {
  for (const seed of SEEDS) {
    const sample = chooseSample(MATRIX, kindsOf, seed)
    expect(new Set(sample.flat()).size).toBe(8)
    expect(sample).toHaveLength(5)
  }
})

it('is the same for the same seed, and includes every case sooner or later', () => {
  expect(chooseSample(MATRIX, kindsOf, 7)).toEqual(chooseSample(MATRIX, kindsOf, 7))
  const seen = SEEDS.flatMap((seed) => chooseSample(MATRIX, kindsOf, seed))
  expect(new Set(seen)).toEqual(new Set(MATRIX))
})

it('is the whole matrix if requested', () => {
  vi.stubEnv('REPRISE_TEST_ALL', '1')
  expect(sampleOf(MATRIX, kindsOf)).toEqual(MATRIX)
})
