/** SECURITY.md: every line of the checklist names tests that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
const [, checklist = ''] = page.split('## Checklist')
const lines = [...checklist.matchAll(/^\| (?!\||---)([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].filter(
  ([, what]) => what?.trim() !== '',
)

it('has all points', () => {
  expect(lines.length).toBeGreaterThanOrEqual(22)
})

it.each(lines.map(([, what = '', , tests = '']) => [what, tests] as const))('%s', (_, tests) => {
  const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})
