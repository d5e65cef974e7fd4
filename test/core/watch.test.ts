import { expect, test } from 'vitest'
import type { WatchDefinition } from '../../src/contract/watch.ts'
import { checkWatch } from '../../src/core/watch/check.ts'

const around = { highestTier: 3, notifyTargets: ['phone', 'chat'] }
const check = (given: Partial<WatchDefinition>) =>
  checkWatch({ workDir: '/srv', prompt: 'Look.', ...given }, around)

test.each<Partial<WatchDefinition>>([
  {},
  { everyMs: 60_000, jitterMs: 1000, maxTier: 3, notify: ['chat', 'phone'] },
  { cron: '@daily', timeZone: 'UTC', memory: 'persistent', renewAfterMs: 60_000, renewAfterCycles: 1 },
  { notify: [] },
  { everyMs: 60_000, everyWhileNotHealthyMs: 10_000 },
  { cron: '@daily', timeZone: 'UTC', everyWhileNotHealthyMs: 300_000 },
])('nothing is wrong with %j', (given) => expect(check(given)).toEqual([]))

test.each<[Partial<WatchDefinition>, string]>([
  [{ everyMs: 1 }, 'everyMs'],
  [{ everyMs: 60_000, jitterMs: 60_000 }, 'jitterMs'],
  [{ cron: '0 0 30 2 *' }, 'cron'],
  [{ timeZone: 'UTC' }, 'timeZone'],
  [{ everyWhileNotHealthyMs: 60_000 }, 'everyWhileNotHealthyMs'],
  [{ everyMs: 60_000, everyWhileNotHealthyMs: 60_000 }, 'everyWhileNotHealthyMs'],
  [{ cron: '@daily', everyWhileNotHealthyMs: 9999 }, 'everyWhileNotHealthyMs'],
  [{ maxTier: 4 }, 'maxTier'],
  [{ renewAfterMs: 60_000 }, 'renewAfterMs'],
  [{ memory: 'fresh', renewAfterCycles: 2 }, 'renewAfterCycles'],
  [{ notify: ['phone', 'mail'] }, 'notify'],
])('something is wrong with %j', (given, key) => {
  expect(check(given)).toEqual([{ key, problem: expect.any(String), hint: expect.any(String) }])
})

test('everything that is wrong, not only the first thing', () => {
  const problems = check({ cron: 'x', maxTier: 9, renewAfterCycles: 2, notify: ['a', 'b'] })
  expect(problems.map(({ key }) => key)).toEqual(['cron', 'maxTier', 'renewAfterCycles', 'notify', 'notify'])
})
