/** What the agent's Markdown looks like on a terminal, in whatever pieces it comes. */
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harmless } from '../../src/cli/base/output.ts'
import { createMarkdownPrinter } from '../../src/cli/markdown/printer.ts'
import { styleFor } from '../../src/cli/terminal/terminal.ts'
import { createScreen } from './screen.ts'

const ANSWER = `## Why the build fails

The build fails because **two versions** of \`react\` are installed, see [the lock file](package-lock.json#L12) and <https://react.dev>. It is *not* because of snake_case_names or 2 * 3.

1. Remove \`node_modules\` and install everything again, then look at the result:
   - an item with **bold text that
     spans lines** in it
   - [x] done
2. Then run:

   \`\`\`sh
   npm ci && npm test -- --an-option=that-is-longer-than-the-terminal-is-wide # **not bold**
   \`\`\`

> A quote that is long enough to be wrapped on a terminal of sixty columns.
>
> - an item in it

| File | Problem | Lines |
|:-----|:--------|------:|
| \`src/a.ts\` | imports \`react\` from the wrong place, twice | 12 |
| src/b.ts | 漢字 | 3 |

---
漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字。
`

const printer = (columns: number, env: Record<string, string> = {}) => {
  const { stream } = createScreen(columns)
  return createMarkdownPrinter({ style: styleFor(stream(), env), width: () => columns })
}
function print(text: string, columns: number, env?: Record<string, string>): string {
  const whole = printer(columns, env)
  return whole.add(text) + whole.end()
}
const NO_COLOR = { NO_COLOR: '1' }

describe('a realistic answer', () => {
  test('on 60 columns', () => {
    expect(stripVTControlCharacters(print(ANSWER, 60)).split('\n')).toEqual([
      'Why the build fails',
      '',
      'The build fails because two versions of react are installed,',
      'see the lock file (package-lock.json#L12) and',
      'https://react.dev. It is not because of snake_case_names or',
      '2 * 3.',
      '',
      '1. Remove node_modules and install everything again, then',
      '   look at the result:',
      '   • an item with bold text that',
      '     spans lines in it',
      '   • [x] done',
      '2. Then run:',
      '',
      '       npm ci && npm test -- --an-option=that-is-longer-than-the-terminal-is-wide # **not bold**',
      '',
      '│ A quote that is long enough to be wrapped on a terminal of',
      '│ sixty columns.',
      '│ ',
      '│ • an item in it',
      '',
      'File     │ Problem                                   │ Lines',
      '─────────┼───────────────────────────────────────────┼──────',
      'src/a.ts │ imports react from the wrong place, twice │    12',
      'src/b.ts │ 漢字                                      │     3',
      '',
      '─'.repeat(40),
      '漢字'.repeat(15),
      '漢字。',
      '',
    ])
  })

  test('on 100 columns, and without colours, where the marks stay that a style would replace', () => {
    expect(print(ANSWER, 100, NO_COLOR).split('\n')).toEqual([
      '## Why the build fails',
      '',
      'The build fails because **two versions** of `react` are installed, see the lock file',
      '(package-lock.json#L12) and https://react.dev. It is *not* because of snake_case_names or 2 * 3.',
      '',
      '1. Remove `node_modules` and install everything again, then look at the result:',
      '   • an item with **bold text that',
      '     spans lines** in it',
      '   • [x] done',
      '2. Then run:',
      '',
      '       npm ci && npm test -- --an-option=that-is-longer-than-the-terminal-is-wide # **not bold**',
      '',
      '│ A quote that is long enough to be wrapped on a terminal of sixty columns.',
      '│',
      '│ • an item in it',
      '',
      'File       │ Problem                                     │ Lines',
      '───────────┼─────────────────────────────────────────────┼──────',
      '`src/a.ts` │ imports `react` from the wrong place, twice │    12',
      'src/b.ts   │ 漢字                                        │     3',
      '',
      '─'.repeat(40),
      '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字。',
      '',
    ])
  })

  test('styles', () => {
    expect(print('# A **b**\n**c** *d* `e` [f](g)\n', 60)).toBe(
      '\u001b[1mA \u001b[22m\u001b[1m\u001b[1mb\u001b[22m\u001b[22m\n\u001b[1mc\u001b[22m \u001b[3md\u001b[23m \u001b[36me\u001b[39m f (g)\n',
    )
  })

  test('a table with too many columns is shown row by row', () => {
    const table = `|${'name|'.repeat(8)}\n|${'-|'.repeat(8)}\n|${'long value|'.repeat(8)}\n`
    expect(print(table, 60, NO_COLOR)).toBe('name: long value\n'.repeat(8))
  })
})

describe('in pieces', () => {
  const pieces = fc.array(fc.record({ chars: fc.integer({ min: 1, max: 40 }), tick: fc.boolean() }), {
    minLength: 1,
    maxLength: 50,
  })
  const cut = (text: string, sizes: readonly { chars: number; tick: boolean }[]) => {
    const parts: { text: string; tick: boolean }[] = []
    for (let at = 0, next = 0; at < text.length; next++) {
      const { chars, tick } = sizes[next % sizes.length]!
      parts.push({ text: text.slice(at, at + chars), tick })
      at += chars
    }
    return parts
  }

  test.each([60, 100])('is the same as at once, also with words shown on the way (%i columns)', (columns) => {
    fc.assert(
      fc.property(pieces, fc.constantFrom({}, NO_COLOR), (sizes, env) => {
        const streamed = printer(columns, env)
        let shown = ''
        for (const { text, tick } of cut(ANSWER, sizes)) {
          shown += streamed.add(text)
          if (tick) shown += streamed.showWords()
        }
        shown += streamed.end()
        // A style may end and begin again between two words.
        const plain = stripVTControlCharacters
        expect(plain(shown)).toBe(plain(print(ANSWER, columns, env)))
      }),
      { verbose: 1 },
    )
  })

  test('pauses and other output lose nothing', () => {
    const letters = (text: string) => stripVTControlCharacters(text).replaceAll(/[^\p{L}\p{N}]/gu, '')
    fc.assert(
      fc.property(pieces, fc.boolean(), (sizes, breakLine) => {
        const streamed = printer(60)
        let shown = ''
        for (const { text, tick } of cut(ANSWER, sizes)) {
          shown += streamed.add(text)
          if (!tick) continue
          shown += streamed.showAll(breakLine)
          if (breakLine) expect(shown === '' || shown.endsWith('\n')).toBe(true)
        }
        const text = letters(shown + streamed.end())
        // Only the language of the block of code is not shown, unless a pause was in the middle of its line.
        const whole = letters(print(ANSWER, 60))
        expect([whole, whole.replace('run', 'runsh')]).toContain(text)
      }),
      { verbose: 1 },
    )
  })

  test('words are shown as soon as their style is certain, everything after a pause', () => {
    const streamed = printer(60, NO_COLOR)
    expect(streamed.add('It is **very im')).toBe('')
    expect(streamed.showWords()).toBe('It is')
    expect(streamed.add('portant** to wa')).toBe('')
    expect(streamed.showWords()).toBe(' **very important** to')
    expect(streamed.showAll(false)).toBe(' wa')
    expect(streamed.hasPending()).toBe(false)
    expect(streamed.add('it.\nNext')).toBe('it.\n')
    expect(streamed.showAll(true)).toBe('Next\n')
    expect(streamed.end()).toBe('')
  })
})

describe('hostile text', () => {
  const HOSTILE = [
    '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007',
    '&#27;[2J&#x9b;2J&#x202e;txt.exe',
    '`\u001b[31mred\u001b[0m`',
    '[\u202egood](https://evil.example/\u202e)',
    '```\u001b[1m\n\u001b]52;c;x\u0007\u009b2J\n```',
    '| a\u001b[2J | b |\n|--|--|\n| \u2066x | \u001b[1mbold |',
    '# \u001b[2J\rHeading\n- \u200bitem\n> \u061cquote',
    '    \u001b[1mcode',
  ]
  test.each(HOSTILE)('%j cannot act on the terminal', (text) => {
    const shown = stripVTControlCharacters(print(text, 60, NO_COLOR))
    expect(print(text, 60, NO_COLOR)).toBe(shown)
    // The output layer is the last word; there is nothing left for it to do.
    expect(harmless(shown)).toBe(shown)
  })

  test('whatever is written, only our styles are printed', () => {
    const text = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 10 }),
        fc.constantFrom(
          '\u001b[',
          '1m',
          '\u009b',
          '**',
          '`',
          '\n',
          '| ',
          '|--|\n',
          '- ',
          '> ',
          '[',
          '](',
          ')',
          '&#27;',
        ),
      ),
    )
    fc.assert(
      fc.property(text, (parts) => {
        const shown = print(parts.join(''), 60)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence is what it looks for.
        const rest = shown.replaceAll(/\u001b\[(?:1|2|3|22|23|36|39)m/g, '')
        expect(rest).not.toContain('\u001b')
        const plain = print(parts.join(''), 60, NO_COLOR)
        expect(plain).not.toContain('\u001b')
      }),
      { verbose: 1 },
    )
  })

  test('a link always shows where it leads', () => {
    expect(print('[https://good.example](https://evil.example)', 80)).toBe(
      'https://good.example (https://evil.example)\n',
    )
    expect(print('![](https://evil.example/x.png) [a]: https://b.example "c" <b>html</b>', 80)).toBe(
      '(https://evil.example/x.png) [a]: https://b.example "c" <b>html</b>\n',
    )
  })
})
