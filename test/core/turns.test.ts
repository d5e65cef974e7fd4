import { describe, expect, it } from 'vitest'
import { decideNext } from '../../src/core/continue/decide.ts'
import { readTurnLimits, turnsForNext, turnsLeft } from '../../src/core/continue/turns.ts'

describe('what a request says about turns', () => {
  it.each([
    [{}, { maxTurns: null }],
    [{ maxTurns: 5 }, { maxTurns: 5 }],
    [{ maxTurns: 5, continue: false }, { maxTurns: 5 }],
    [
      { maxTurns: 5, continue: true },
      { maxTurns: 5, turnsInAll: 50 },
    ],
    [
      { maxTurns: 5, continue: true, maxTurnsTotal: 12 },
      { maxTurns: 5, turnsInAll: 12 },
    ],
    [{ continue: true }, { problem: 'continue: requires maxTurns' }],
    [{ maxTurns: 5, maxTurnsTotal: 12 }, { problem: 'maxTurnsTotal: requires continue' }],
    [
      { maxTurns: 5, continue: true, maxTurnsTotal: 4 },
      { problem: 'maxTurnsTotal: must not be less than maxTurns (5)' },
    ],
  ])('%j', (request, read) => expect(readTurnLimits(request)).toEqual(read))
})

it('the last attempt gets what is left', () => {
  const limits = { maxTurns: 5, turnsInAll: 12 }
  expect([0, 1, 2, 3].map((limited) => turnsLeft(limits, limited))).toEqual([12, 7, 2, 0])
  expect([0, 1, 2].map((limited) => turnsForNext(limits, limited))).toEqual([5, 5, 2])
  expect(turnsLeft({ maxTurns: 5 }, 1)).toBeNull()
  expect(turnsForNext({ maxTurns: 5 }, 1)).toBe(5)
  expect(turnsForNext({ maxTurns: null }, 1)).toBeNull()
})

it.each([
  [3, 'retry'],
  [0, 'settle'],
  [null, 'settle'],
])('with %j turns left the run continues: %s', (left, kind) => {
  const end = {
    outcome: { name: 'turn-limit', message: 'it took all its turns' },
    kind: 'turn',
    resumed: false,
    cancelRequested: false,
    unattended: true,
    interruptions: 0,
    overflows: 0,
    maxResumes: 5,
    backoffMs: 1000,
    jitter: 0,
    turnsLeft: left,
  }
  const next = decideNext(end as unknown as Parameters<typeof decideNext>[0])
  expect(next.kind).toBe(kind)
  if (next.kind === 'retry')
    expect(next).toMatchObject({ afterMs: 0, why: expect.stringContaining('3 turns are left') })
})
