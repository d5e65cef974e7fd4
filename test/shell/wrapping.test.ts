/** Random texts: quoted words are read as they are, and a forbidden command is found in whatever is put around it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readShell } from '../../src/core/shell/read.ts'
import { ask } from './machine.ts'

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

test('words in quotes are read as they are', () => {
  const word = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\0', ''))
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (args) => {
      const argv = ['program', ...args]
      expect(readShell(argv.map(quoted).join(' '))).toMatchObject({
        commands: [{ argv, globs: [] }],
        unclear: [],
      })
    }),
  )
})

const WRAPPINGS: ((text: string) => string)[] = [
  (text) => `sh -c ${quoted(text)}`,
  (text) => `bash -euo pipefail -c ${quoted(text)} name`,
  (text) => `sudo -n bash -c ${quoted(text)}`,
  (text) => `env A=1 timeout -k 1 5 sh -c ${quoted(text)}`,
  (text) => `( ${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `true && ${text}`,
  (text) => `ls | { ${text}\n} | cat`,
  (text) => `if ${text}\nthen ls; fi`,
  (text) => `for x in a b; do ${text}\ndone`,
  (text) => `case x in *) ${text}\n;; esac`,
  (text) => `f() { ${text}\n}`,
  (text) => `echo "$( ${text}\n)"`,
  (text) => `X=$( ${text}\n) ls`,
  (text) => `cat <( ${text}\n)`,
  (text) => `cat <<EOF\n$( ${text}\n)\nEOF`,
  (text) => `find . -exec sh -c ${quoted(text)} \\;`,
  (text) => `ls | xargs sh -c ${quoted(text)}`,
  (text) => `! time { ${text}\n} > /dev/null 2>&1`,
]

test('a forbidden command is refused early, whatever is plainly put around it', () => {
  // More than a few levels of quotes make a text too long to be read.
  const wrappings = fc.array(fc.constantFrom(...WRAPPINGS), { maxLength: 4 })
  const command = fc.constantFrom(
    'docker system prune -f',
    'git push --force',
    'rm -rf /usr',
    'touch /volumes/x',
  )
  fc.assert(
    fc.property(command, wrappings, (forbidden, layers) => {
      const text = layers.reduce<string>((inner, wrap) => wrap(inner), forbidden)
      for (const enforcement of ['kernel', 'advisory'] as const)
        expect([text, ask(text, '3', enforcement).decision]).toEqual([text, 'deny'])
    }),
    { numRuns: 300 },
  )
})
