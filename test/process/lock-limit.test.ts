/** The limit by which processes of an attempt are recognised. */
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { carriesLockLimit, planLockLimit } from '../../src/process/lock-limit.ts'
import { canMarkByLimit } from '../../src/process/probe-limit.ts'

const limits = (soft: bigint | 'unlimited', hard: bigint | 'unlimited') =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max address space         unlimited            unlimited            bytes     ',
    `Max file locks            ${`${soft}`.padEnd(20)} ${`${hard}`.padEnd(20)} locks     `,
    'Max pending signals       32000                32000                signals   ',
  ].join('\n')
const FREE = limits('unlimited', 'unlimited')

it('is set for both limits, and identifies one attempt', () => {
  const limit = planLockLimit('att_1', FREE)!
  expect(limit.softOnly).toBe(false)
  expect(limit.value).toBeLessThan(1n << 60n)
  const marked = limits(limit.value, limit.value)
  expect(carriesLockLimit(marked, 'att_1')).toBe(true)
  expect(carriesLockLimit(marked, 'att_2')).toBe(false)
  expect(carriesLockLimit(FREE, 'att_1')).toBe(false)
})

it('inside another attempt keeps the mark of that one, and can always be set', () => {
  const outer = planLockLimit('att_outer', FREE)!
  const inner = planLockLimit('att_inner', limits(outer.value, outer.value))!
  expect(inner.softOnly).toBe(true)
  expect(inner.value).toBeLessThan(outer.value)
  const marked = limits(inner.value, outer.value)
  expect(carriesLockLimit(marked, 'att_inner')).toBe(true)
  expect(carriesLockLimit(marked, 'att_outer')).toBe(true)
  const innermost = planLockLimit('att_innermost', marked)!
  expect(innermost.value).toBeLessThan(outer.value)
})

it.each([
  ['a limit that somebody has set', limits(64n, 64n)],
  ['a system that does not tell', ''],
])('is not set with %s', (_, text) => {
  expect(planLockLimit('att_1', text)).toBeNull()
  expect(carriesLockLimit(text, 'att_1')).toBe(false)
})

it('can be set by the shell of this machine, without any privilege', () => {
  expect(canMarkByLimit()).toBe(true)
  if (process.getuid?.() !== 0) return
  const { value } = planLockLimit('att_1', FREE)!
  const script = `ulimit -w ${value} 2>/dev/null || ulimit -x ${value}; exec env -i cat /proc/self/limits`
  const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '/bin/sh', '-c', script]
  const shown = execFileSync('setpriv', asNobody, { encoding: 'utf8' })
  expect(carriesLockLimit(shown, 'att_1')).toBe(true)
})
