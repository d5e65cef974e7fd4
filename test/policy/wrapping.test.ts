/** Random wrappings of a forbidden command, several deep: always refused. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask } from './corpus.ts'

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const FORBIDDEN = [
  'docker system prune -f',
  'git push --force origin main',
  'rm -rf /',
  'rm -rf ~',
  'tee /volumes/x',
  'git -C /x push -f',
]

/** From a command to a text that runs it. The first list takes one command only, the second any text. */
const AROUND_COMMAND: readonly ((command: string) => string)[] = [
  (command) => `sudo ${command}`,
  (command) => `sudo -u root -E ${command}`,
  (command) => `env -i A=b ${command}`,
  (command) => `nohup ${command}`,
  (command) => `timeout -s KILL 5 ${command}`,
  (command) => `nice -n 5 ${command}`,
  (command) => `ionice -c2 ${command}`,
  (command) => `stdbuf -oL ${command}`,
  (command) => `setsid ${command}`,
  (command) => `command ${command}`,
  (command) => `exec ${command}`,
  (command) => `busybox ${command}`,
  (command) => `chroot / ${command}`,
  (command) => `unshare ${command}`,
  (command) => `strace -f ${command}`,
  (command) => `flock /tmp/l ${command}`,
  (command) => `xargs ${command}`,
  (command) => `find . -exec ${command} \\;`,
  (command) => `ssh host ${quote(command)}`,
  (command) => `docker exec -it c ${command}`,
  (command) => `kubectl exec p -- ${command}`,
  (command) => `X=1 ${command}`,
]
const AROUND_TEXT: readonly ((text: string) => string)[] = [
  (text) => `sh -c ${quote(text)}`,
  (text) => `bash -lc ${quote(text)}`,
  (text) => `eval ${quote(text)}`,
  (text) => `su -c ${quote(text)}`,
  (text) => `script -qc ${quote(text)} /dev/null`,
  (text) => `sudo sh -c ${quote(text)}`,
  (text) => `(${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `while ${text}\ndo break; done`,
  (text) => `for i in 1; do ${text}\ndone`,
  (text) => `case x in x) ${text}\n;; esac`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `echo "$(${text}\n)"`,
  (text) => `cat <(${text}\n)`,
  (text) => `true && ${text}`,
  (text) => `ls; ${text}`,
  (text) => `ls | {\n${text}\n}`,
  (text) => `printf %s ${quote(text)} | sh`,
  (text) => `bash -s <<'END_OF_TEXT'\n${text}\nEND_OF_TEXT`,
  (text) => `trap ${quote(text)} EXIT`,
  (text) => `git -c alias.x=${quote(`!${text}`)} x`,
  (text) => `X=${quote(text)}; eval "$X"`,
  (text) => `! ${text}`,
  (text) => `time ${text}`,
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
        const from = performance.now()
        expect(['allow', 'deny']).toContain(ask(parts.join(''), '2').decision)
        expect(performance.now() - from).toBeLessThan(1000)
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
  const from = performance.now()
  ask(text, '2')
  expect(performance.now() - from).toBeLessThan(2000)
})
