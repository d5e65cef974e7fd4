/** What a tier that may only look allows does not start anything else, whatever way a shell is led to it. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { announceSeed } from '../core/random.ts'
import { endGroup } from '../support/end-group.ts'
import { ask } from './corpus.ts'
import { makeText } from './made-up.ts'

const HOW_MANY = process.env.REPRISE_TEST_ALL ? 60_000 : 1000
let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-made-up-'))
  mkdirSync(join(dir, 'bin'))
  writeFileSync(join(dir, 'bin', 'mark'), `#!/bin/sh\n: > '${dir}/marked'\n`, { mode: 0o755 })
  writeFileSync(join(dir, 'bin', 'ls'), '#!/bin/sh\n', { mode: 0o755 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function marks(text: string): boolean {
  const cwd = join(dir, 'cwd')
  mkdirSync(cwd, { recursive: true })
  // The types of spawnSync do not know `detached`, which it understands: a process group of its own.
  const options = {
    cwd,
    env: { PATH: join(dir, 'bin') },
    input: '',
    timeout: 2000,
    killSignal: 'SIGKILL' as const,
    detached: true,
  }
  const { pid } = spawnSync('/bin/bash', ['-c', text], options)
  endGroup(pid)
  const marked = existsSync(join(dir, 'marked'))
  rmSync(join(dir, 'marked'), { force: true })
  return marked
}

it('of texts made up by chance', { timeout: 600_000 }, () => {
  const random = generator(announceSeed('made-up texts:'))
  let allowed = 0
  for (let i = 0; i < HOW_MANY; i++) {
    const text = makeText(random)
    if (!text.includes('mark') || ask(text, '1').decision !== 'allow') continue
    allowed++
    expect(marks(text), text).toBe(false)
  }
  expect(allowed).toBeGreaterThan(HOW_MANY / 200)
  // And they would have been seen.
  expect(marks('x=mark; $x')).toBe(true)
})

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
