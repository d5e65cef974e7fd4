/** The short form of `npm run soak`, and of `npm run bench`: that they work, and that no invariant is violated. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { soak } from '../../bench/soak.ts'

it('random kills for twenty seconds violate nothing', { timeout: 180_000 }, async () => {
  const seed = Number(process.env.REPRISE_TEST_SEED ?? Date.now() % 100_000)
  console.log(`soak seed ${seed}`)
  const report = await soak({ seconds: 20, seed })
  expect(report.rounds.map((round) => round.runs)).toEqual([expect.any(Number)])
})

it('the benchmarks run', { timeout: 300_000 }, async () => {
  const root = resolve(import.meta.dirname, '../..')
  const node = resolve(root, 'node_modules/.bin/node')
  const { stdout } = await promisify(execFile)(node, ['bench/run.ts', '--short'], { cwd: root })
  for (const name of [
    'turn',
    'parser',
    'ingest',
    'start',
    'slow-reader',
    'chat',
    'queue',
    'recovery',
    'history',
  ])
    expect(stdout).toContain(`${name}:`)
})
