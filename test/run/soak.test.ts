/** The short form of `npm run soak`: no invariant is violated. Only `npm run test:all` runs it. */
import { expect, it } from 'vitest'
import { soak } from '../../bench/soak.ts'

const SECONDS = 10

it.runIf(process.env.REPRISE_TEST_ALL)(
  `random kills for ${SECONDS} seconds violate nothing`,
  { timeout: 180_000 },
  async () => {
    const seed = Number(process.env.REPRISE_TEST_SEED ?? Date.now() % 100_000)
    console.log(`soak seed ${seed}`)
    const report = await soak({ seconds: SECONDS, seed })
    expect(report.violations).toEqual([])
    expect(report.rounds.map((round) => round.runs)).toEqual([expect.any(Number)])
  },
)
