/** Fitting the past into a prompt: what is sent, and exactly what is left out. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerpt, fitPast } from '../../src/core/prompt/fit.ts'
import { type PastPart, type PastTurn, sectionOfTurn } from '../../src/core/prompt/past.ts'
import { DEFAULT_WINDOW, estimateTokens, roomForPast } from '../../src/core/prompt/tokens.ts'
import { cpuMsOf } from './cpu-time.ts'
import { checkProperty } from './random.ts'

/** English words, about five characters each with the space. */
const prose = (chars: number) => 'over the wet fields it flew '.repeat(Math.ceil(chars / 28)).slice(0, chars)
const tool = (output: string, missing = 0): PastPart => ({
  kind: 'tool',
  name: 'Bash',
  input: '{"command":"make"}',
  ending: '',
  output,
  missing,
})
const turn = (number: number, prompt: string, ...answer: PastPart[]): PastTurn => ({
  turn: number,
  prompt,
  answer,
})
const fitted = (turns: readonly PastTurn[], room: number) => {
  const { texts, leftOut } = fitPast(turns.map(sectionOfTurn), room)
  return { text: texts.join('\n'), texts, leftOut }
}

describe('an estimate of tokens', () => {
  it.each([
    ['words', prose(4000), 1000, 1500],
    ['a ruler', '='.repeat(4000), 900, 1100],
    [
      'base64',
      Buffer.from(Uint8Array.from({ length: 3000 }, (_, i) => (i * 7919) % 251)).toString('base64'),
      1900,
      4000,
    ],
    ['digits', '3141592653 '.repeat(400), 1000, 4400],
    ['Chinese', '凤凰涅槃之后继续前行'.repeat(100), 1000, 2000],
    ['Russian', 'белая ночь над рекой '.repeat(100), 1000, 2200],
    ['emoji', '🐦🪶🌊'.repeat(100), 600, 1300],
  ])('of %s is rather too high, but not by much', (_, text, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least)
    expect(estimateTokens(text)).toBeLessThanOrEqual(most)
  })

  it('is quick', () => {
    const text = prose(5_000_000)
    expect(cpuMsOf(() => estimateTokens(text))).toBeLessThan(1000)
  })
})

describe('the room for the past', () => {
  const facts = { window: 1_000_000, threshold: 0.8, besides: 0, held: 0 }

  it('leaves room for the work, below what counts as full', () => {
    expect(roomForPast(facts)).toBe(575_000)
    expect(roomForPast({ ...facts, besides: 75_000 })).toBe(500_000)
    expect(roomForPast({ ...facts, held: 700_000 })).toBe(100_000)
    expect(roomForPast({ ...facts, window: null })).toBe(roomForPast({ ...facts, window: DEFAULT_WINDOW }))
  })

  it('is never nothing', () => {
    expect(roomForPast({ ...facts, window: 1000, held: 5000 })).toBeGreaterThan(0)
  })
})

describe('the past', () => {
  it('that fits is given whole: twelve turns of 60 kB, a message of 1 MB, any tool output', () => {
    const room = roomForPast({ window: 1_000_000, threshold: 0.8, besides: 0, held: 0 })
    const twelve = Array.from({ length: 12 }, (_, i) =>
      turn(i + 1, prose(60_000), { kind: 'text', text: 'ok' }),
    )
    for (const turns of [
      twelve,
      [turn(1, `${prose(1_000_000)} THE END`)],
      [turn(1, 'a', tool(prose(300_000)))],
    ]) {
      const { text, leftOut } = fitted(turns, room)
      expect(leftOut).toBeNull()
      expect(text.length).toBeGreaterThan(turns[0]!.prompt.length)
    }
    expect(fitted([turn(1, `${prose(1_000_000)} THE END`)], room).text).toContain('THE END')
  })

  it('loses the largest tool outputs first, and keeps their beginning and end', () => {
    const turns = [
      turn(1, 'first', tool(`${prose(40_000)} BIG END`)),
      turn(2, 'second', tool(prose(1500))),
      turn(3, 'third', tool(prose(30_000))),
    ]
    const { text, texts, leftOut } = fitted(turns, 12_000)
    expect(texts).toHaveLength(3)
    expect(text).toContain(prose(1500))
    expect(text).toContain('BIG END')
    expect(leftOut).toMatchObject({ turns: 0, messages: 0, tools: 2 })
    expect(leftOut!.items.map(({ turn, what, tool }) => [turn, what, tool])).toEqual([
      [1, 'tool-output', 'Bash'],
      [3, 'tool-output', 'Bash'],
    ])
  })

  it('loses then the middle of huge messages, and then the oldest turns', () => {
    const turns = [
      turn(1, prose(4000)),
      turn(2, 'second', tool(prose(5000))),
      turn(3, `${prose(400_000)} ITS END`, { kind: 'text', text: 'that is long' }),
    ]
    const huge = fitted(turns, 10_000)
    expect(huge.texts).toHaveLength(3)
    expect(huge.text).toContain('ITS END')
    expect(huge.leftOut).toMatchObject({ turns: 0, messages: 1 })
    const many = Array.from({ length: 20 }, (_, i) => turn(i + 1, `asked ${i + 1}. ${prose(2000)}`))
    const { text, leftOut } = fitted(many, 5000)
    expect(leftOut!.turns).toBeGreaterThan(5)
    expect(leftOut!.items[0]).toMatchObject({ what: 'turn', turn: 1 })
    expect(text).toContain('asked 20.')
    expect(text).not.toContain('asked 1.')
  })

  it('is shortened instead of dropped if only the newest turn is left', () => {
    const { text, leftOut } = fitted(
      [
        turn(1, 'one'),
        turn(2, `two ${prose(50_000)}`, ...Array.from({ length: 30 }, () => tool(prose(9000)))),
      ],
      300,
    )
    expect(text).toContain('two over')
    expect(leftOut!.turns).toBe(1)
    expect(estimateTokens(text)).toBeLessThan(500)
  })

  it('lists the part of a tool output that was not stored, too', () => {
    const { text, leftOut } = fitted([turn(1, 'a', tool('begins', 5000))], 1000)
    expect(text).toContain('begins… (5000 more characters)')
    expect(leftOut).toMatchObject({ tools: 1, characters: 5000 })
  })

  it('whatever it is, fits or is accounted for', () => {
    const part = fc.oneof(
      fc.nat(3000).map((n): PastPart => ({ kind: 'text', text: prose(n) })),
      fc.nat(20_000).map((n) => tool(prose(n))),
    )
    const turns = fc.array(fc.tuple(fc.nat(3000), fc.array(part, { maxLength: 4 })), {
      minLength: 1,
      maxLength: 8,
    })
    checkProperty(
      fc.property(turns, fc.integer({ min: 200, max: 30_000 }), (drawn, room) => {
        const all = drawn.map(([n, parts], i) => turn(i + 1, prose(n), ...parts))
        const { text, texts, leftOut } = fitted(all, room)
        const whole = fitted(all, Number.POSITIVE_INFINITY)
        expect(estimateTokens(text)).toBeLessThanOrEqual(room + 60 * all.length)
        expect(texts).toHaveLength(all.length - (leftOut?.turns ?? 0))
        expect(whole.leftOut).toBeNull()
        if (leftOut === null) expect(text).toBe(whole.text)
        else {
          expect(leftOut.characters).toBe(leftOut.items.reduce((sum, item) => sum + item.characters, 0))
          expect(leftOut.characters).toBeGreaterThan(0)
        }
      }),
      300,
    )
  })
})

describe('an excerpt', () => {
  it('has the beginning, the end, and says how much is missing between', () => {
    expect(excerpt('abc', 3)).toEqual({ text: 'abc', cut: 0 })
    const { text, cut } = excerpt(`start${'-'.repeat(100)}end`, 20)
    expect(text).toMatch(/^start-+\n… \(88 characters left out here\) …\n-*end$/)
    expect(cut).toBe(88)
  })
})
