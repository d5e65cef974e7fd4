/** Text in pieces: no secret is seen because it was cut in two, and nothing else is lost or kept waiting. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeltaStream } from '../../src/core/redact/delta-stream.ts'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { checkProperty } from '../core/random.ts'
import { INNOCENT, PRIVATE_KEY, SECRETS } from './corpus.ts'

const SPACED = 'open sesame, please'
const redactor = new Redactor({ builtIn: true, patterns: [], values: [SPACED, 'hunter2'] })

/** Without values that are plain words, prose takes a short cut. */
const builtIn = new Redactor({ builtIn: true, patterns: [], values: [] })

function passOn(pieces: readonly string[], by = redactor): { parts: string[]; whole: string } {
  const stream = new DeltaStream(by)
  const parts = [...pieces.map((piece) => stream.push(piece)), stream.flush()]
  return { parts, whole: parts.join('') }
}

describe('text in pieces', () => {
  it.each(SECRETS)('character by character is the redacted text: %s %#', (_, text) => {
    for (const by of [redactor, builtIn]) expect(passOn([...text], by).whole).toBe(by.text(text))
  })

  it('in any pieces is the redacted text', () => {
    const part = fc.constantFrom(
      ...INNOCENT,
      ...SECRETS.map(([, text]) => text),
      SPACED,
      'hunter2',
      'open sesame',
      '我们说中文，没有空格',
      '{"command":"echo ',
      '\n',
    )
    const texts = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(' '))
    checkProperty(
      fc.property(texts, fc.array(fc.nat({ max: 5000 }), { maxLength: 40 }), (text, at) => {
        const cuts = [0, ...at.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
        const pieces = cuts.slice(1).map((to, i) => text.slice(cuts[i], to))
        for (const by of [redactor, builtIn]) expect(passOn(pieces, by).whole).toBe(by.text(text))
      }),
      1000,
    )
  })

  it('flows: only the last word waits', () => {
    expect(passOn(['Hel', 'lo wor', 'ld, and', ' more']).parts).toEqual([
      '',
      'Hello ',
      'world, ',
      'and ',
      'more',
    ])
  })

  it('flows without spaces too, where writing has none', () => {
    expect(passOn(['我们', '说中文']).parts).toEqual(['我们', '说中文', ''])
  })

  it('waits no longer than for a long word', () => {
    for (const by of [redactor, builtIn]) {
      const { parts, whole } = passOn(
        Array.from({ length: 1000 }, () => 'abcdefghij'),
        by,
      )
      expect(whole).toBe('abcdefghij'.repeat(1000))
      expect(parts.at(-1)!.length).toBeLessThan(2100)
    }
  })

  it('has one mark for a key that is longer than what is held back', () => {
    const line = `${PRIVATE_KEY.split('\n')[1]}\n`
    const key = PRIVATE_KEY.replace('MzEf', `${line.repeat(200)}MzEf`)
    const { parts, whole } = passOn(`see ${key}\nand so on`.match(/.{1,7}/gs)!)
    expect(whole).toBe('see [redacted: private-key]\nand so on')
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(100)
  })

  it('is gone through in pieces of any size, whatever comes', () => {
    for (const part of [
      'a',
      'token=',
      '-----BEGIN PRIVATE KEY-----\n',
      `${'MII'.repeat(20)}\n`,
      SPACED.slice(0, 8),
    ]) {
      const text = part.repeat(Math.ceil(200_000 / part.length))
      expect(passOn(text.match(/.{1,50}/gs)!).whole).toBe(redactor.text(text))
    }
  })
})
