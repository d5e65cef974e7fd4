/** What agents wrote cannot act on the terminal, nor hide from it; in JSON it keeps its value. */
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { harmless, toJsonLine, write } from '../../src/cli/base/output.ts'
import { styleFor } from '../../src/cli/terminal/terminal.ts'

const ATTACKS: readonly (readonly [name: string, text: string, shown: string])[] = [
  ['an override of the direction', 'a\u202ebc\u202c', 'a\\u{202e}bc\\u{202c}'],
  ['isolates', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
  ['marks of direction', 'a\u200f\u200e\u061c', 'a\\u{200f}\\u{200e}\\u{61c}'],
  ['a C1 sequence', 'a\u009b31mb', 'ab'],
  ['C1 characters', 'a\u0085b\u008dc', 'a\ufffdb\ufffdc'],
  ['an escape sequence', 'a\u001b]52;c;x\u0007b', 'ab'],
  ['a return', 'safe\rrm -rf', 'safe\ufffdrm -rf'],
  ['characters without width', 'pass\u200bword\u2060\ufeff', 'pass\\u{200b}word\\u{2060}\\u{feff}'],
  ['a joiner in a word', 'pass\u200dword', 'pass\\u{200d}word'],
  ['tags', 'a\u{e0061}', 'a\\u{e0061}'],
  ['line separators', 'a\u2028b', 'a\\u{2028}b'],
]

it.each(ATTACKS)('%s', (_name, text, shown) => {
  expect(harmless(text)).toBe(shown)
  expect(harmless(shown)).toBe(shown)
  const line = toJsonLine({ text })
  expect(JSON.parse(line)).toEqual({ text })
  expect(line).toMatch(/^[\x20-\x7e]+\n$/)
})

it('leaves writing and emoji alone', () => {
  for (const text of ['Grüße, 我们\n\tالعربية', '👩‍💻 ❤️‍🔥', 'می‌خواهم', 'क्‍ष'])
    expect(harmless(text)).toBe(text)
})

it('lets only our own styles reach a terminal, and changes nothing for a file', () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  const style = styleFor(terminal, {})
  const text = `${style.bold('title')} \u001b[8mhidden\u001b[0m \u202e\u009b2J${style.red('end')}`
  write(terminal, text)
  expect(String(terminal.read())).toBe('\u001b[1mtitle\u001b[22m hidden \\u{202e}\u001b[31mend\u001b[39m')
  const file = new PassThrough()
  write(file, text)
  expect(String(file.read())).toBe(text)
})
