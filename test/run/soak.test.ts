/** The short form of `npm run soak`: no invariant is violated. */
import { expect, it } from 'vitest'
import { soak } from '../../bench/soak.ts'

const SECONDS = process.env.REPRISE_TEST_ALL ? 10 : 6

it(`random kills for ${SECONDS} seconds violate nothing`, { timeout: 180_000 }, async () => {
  const seed = Number(process.env.REPRISE_TEST_SEED ?? Date.now() % 100_000)
  console.log(`soak seed ${seed}`)
  const report = await soak({ seconds: SECONDS, seed })
  expect(report.rounds.map((round) => round.runs)).toEqual([expect.any(Number)])
})
