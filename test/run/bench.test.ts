/** Checks that the short form of `npm run bench` works. It takes minutes, so only `npm run test:all` runs it. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it.runIf(process.env.REPRISE_TEST_ALL)('the benchmarks run', { timeout: 300_000 }, async () => {
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
    'policy',
    'guard',
    'escalation',
    'chains',
    'waiting',
    'webhook',
    'adopt',
    'transfer',
  ])
    expect(stdout).toContain(`${name}:`)
})
