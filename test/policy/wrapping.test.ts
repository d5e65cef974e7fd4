/** Random wrappings of a forbidden command, several deep: always refused. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cpuMsOf } from '../core/cpu-time.ts'
import { ask } from './corpus.ts'
import { AROUND_COMMAND, AROUND_TEXT } from './wrappings.ts'

const FORBIDDEN = [
  'docker system prune -f',
  'git push --force origin main',
  'rm -rf /',
  'rm -rf ~',
  'tee /volumes/x',
  'git -C /x push -f',
]

test('a forbidden command, wrapped in whatever wraps commands, is refused at every tier', () => {
  const wrapped = fc.record({
    command: fc.constantFrom(...FORBIDDEN),
    inner: fc.array(fc.constantFrom(...AROUND_COMMAND), { maxLength: 3 }),
    outer: fc.array(fc.constantFrom(...AROUND_TEXT), { maxLength: 3 }),
    tier: fc.constantFrom('-', '1', '2', '3'),
  })
  // A failure prints its seed.
  fc.assert(
    fc.property(wrapped, ({ command, inner, outer, tier }) => {
      const simple = inner.reduce((text, wrap) => wrap(text), command)
      const text = outer.reduce((text, wrap) => wrap(text), simple)
      const { decision } = ask(text, tier)
      if (decision !== 'deny') throw new Error(`allowed at ${tier}: ${text}`)
    }),
    { numRuns: 2000, verbose: true },
  )
})

test('quoting the words in any way changes nothing', () => {
  const hex = (char: string) => `$'\\x${char.charCodeAt(0).toString(16)}'`
  const styles = [
    (c: string) => c,
    (c: string) => `'${c}'`,
    (c: string) => `"${c}"`,
    (c: string) => `\\${c}`,
    hex,
  ]
  const char = fc.constantFrom(...styles)
  fc.assert(
    fc.property(fc.array(char, { minLength: 32, maxLength: 32 }), (chosen) => {
      let at = 0
      const text = ['docker', 'system', 'prune']
        .map((word) => [...word].map((c) => chosen[at++ % chosen.length]!(c)).join(''))
        .join(' ')
      expect([text, ask(text).decision]).toEqual([text, 'deny'])
    }),
    { numRuns: 500, verbose: true },
  )
})

test('no text makes it fail or take long', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          ...'abr m-/\'"\\$(){}[]|&;<>`*?~=!#\n\t:'.split(''),
          'docker',
          'rm',
          '$(',
          '<<E',
          'if',
          'do',
        ),
      ),
      (parts) => {
        const spentMs = cpuMsOf(() => {
          expect(['allow', 'deny']).toContain(ask(parts.join(''), '2').decision)
        })
        expect(spentMs).toBeLessThan(1000)
      },
    ),
    { numRuns: 2000, verbose: true },
  )
})

test.each([
  ['options', `docker ${'-a '.repeat(5000)}x`],
  ['unknown words', `docker ${'$X '.repeat(2000)}`],
  ['braces', `echo ${'{a,b}'.repeat(40)}`],
  [
    'alternatives',
    `${Array.from({ length: 12 }, (_, i) => `for v${i} in a b c; do`).join(' ')} echo ${Array.from({ length: 12 }, (_, i) => `$v${i}`).join('')}; ${'done; '.repeat(12)}`,
  ],
  ['functions', 'f() { f; f; f; f; f; f; }; f'],
  ['parentheses', `${'('.repeat(3000)}ls${')'.repeat(3000)}`],
  ['substitutions', `${'echo $('.repeat(200)}ls${')'.repeat(200)}`],
  ['quotes', `${"'".repeat(9999)}`],
  ['commands', 'ls;'.repeat(20_000)],
  ['paths', `rm ${'*/'.repeat(2000)}x ${'../'.repeat(3000)}y`],
  ['a sed script', `sed '${'s/a/b/;'.repeat(5000)}' x`],
])('a great many %s are answered soon', (_, text) => {
  expect(cpuMsOf(() => ask(text, '2'))).toBeLessThan(2000)
})
