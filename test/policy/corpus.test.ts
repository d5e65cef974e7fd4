import { describe, expect, test } from 'vitest'
import { ask, readCorpus } from './corpus.ts'

const forbidden = readCorpus('forbidden')
const innocent = readCorpus('innocent')

test('the corpus is large enough to mean something, and says nothing twice', () => {
  expect(forbidden.length).toBeGreaterThanOrEqual(150)
  expect(innocent.length).toBeGreaterThanOrEqual(80)
  const all = [...forbidden, ...innocent].map(({ tier, command }) => `${tier} ${command}`)
  expect(new Set(all).size).toBe(all.length)
})

describe('refused', () => {
  test.each(forbidden)('$tier: $command ($trick)', ({ tier, command }) => {
    const { decision, reason, rule } = ask(command, tier)
    expect({ decision, reason }).toMatchObject({ decision: 'deny' })
    expect(reason).toMatch(/\.$/)
    expect(rule).toBeTruthy()
  })

  test('what is refused without a tier is refused at each', () => {
    for (const { command } of forbidden.filter(({ tier }) => tier === '-')) {
      for (const tier of ['1', '2', '3'])
        expect([command, tier, ask(command, tier).decision]).toEqual([command, tier, 'deny'])
    }
  })
})

describe('allowed', () => {
  test.each(innocent)('$tier: $command ($trick)', ({ tier, command }) => {
    expect(ask(command, tier)).toMatchObject({ decision: 'allow' })
  })
})
