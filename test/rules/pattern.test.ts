import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readArguments } from '../../src/core/rules/arguments.ts'
import { judgeCall } from '../../src/core/rules/judge.ts'
import {
  canonical,
  checkedPattern,
  compilePattern,
  mayMatch,
  surelyMatches,
} from '../../src/core/rules/pattern.ts'
import { cpuMsOf } from '../core/cpu-time.ts'
import { ask, CWD, factsOf, rulesOf, verdict, words } from './world.ts'

function match(source: string, text: string): string {
  const pattern = checkedPattern(source)
  const [name = '', ...rest] = words(text)
  const { program, args } = canonical(name, rest)
  const may = program === pattern.program && mayMatch(pattern, args)
  return surelyMatches(pattern, readArguments(program, args))
    ? may
      ? 'surely'
      : 'wrong'
    : may
      ? 'perhaps'
      : 'no'
}

test.each([
  ['docker restart *', 'docker restart web', 'surely'],
  ['docker restart *', 'docker restart', 'surely'],
  ['docker restart *', 'docker --context x restart web', 'surely'],
  ['docker restart *', 'docker --context=x -D restart web', 'surely'],
  ['docker restart *', 'docker --made-up restart web', 'perhaps'],
  ['docker restart *', 'docker -c restart stop web', 'perhaps'],
  ['docker restart *', 'docker logs restart', 'no'],
  ['docker restart *', 'docker -c x logs restart', 'no'],
  ['docker restart', 'docker restart web', 'no'],
  ['docker compose up -d *', 'docker compose up --detach web', 'surely'],
  ['docker compose up -d *', 'docker compose up -dV web', 'surely'],
  ['docker compose up -d *', 'docker compose up web', 'no'],
  ['docker compose -p media up *', 'docker compose -p media up web', 'perhaps'],
  ['service * restart', 'service web restart', 'surely'],
  ['service * restart', 'service restart', 'perhaps'],
  ['service * restart', 'service web stop', 'no'],
  ['kubectl rollout restart deploy/* *', 'kubectl -n x rollout restart deploy/web', 'surely'],
  ['kubectl rollout restart deploy/* *', 'kubectl rollout restart sts/web', 'no'],
  ['kubectl rollout restart *', 'kubectl -nx rollout -v=2 restart deploy/web', 'surely'],
  ['rm -rf /*', 'rm -fr /usr', 'perhaps'],
  ['rm -rf /*', 'rm -r --force /', 'perhaps'],
  ['rm -rf /*', 'rm -r /usr', 'no'],
  ['podman-compose up *', 'docker compose up x', 'surely'],
  ['rake db:migrate *', 'rake db:migrate', 'surely'],
])('%s and %s: %s', (source, text, expected) => {
  expect(match(source, text)).toBe(expected)
})

test('what surely matches may match', () => {
  const word = fc.constantFrom(
    'docker',
    'restart',
    'compose',
    'up',
    '-d',
    '-c',
    '--context',
    '-t',
    '--',
    'a',
    '--x=y',
    '-H',
  )
  const patterns = [
    'docker restart *',
    'docker compose up *',
    'docker compose * a',
    'docker * restart *',
    'docker up',
  ]
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.constantFrom(...patterns), (args, source) => {
      expect(match(source, ['docker', ...args].join(' '))).not.toBe('wrong')
    }),
    { numRuns: 3000, verbose: true },
  )
})

test.each([
  ['', 'it is empty'],
  ['do* x', 'must be written out'],
  ['A=1 docker', 'sets a variable'],
  ['-x docker', 'is an option'],
  ['docker "x', 'is not closed'],
  ['docker x\\', 'ends with a backslash'],
  ['docker ps | sh', '| means something to a shell'],
  ['docker $X', '$ means something to a shell'],
])('%s is refused', (source, problem) => {
  expect(compilePattern(source)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) })
})

describe('long argument lists', () => {
  test.each([
    ['options', `docker ${'-a '.repeat(9000)}restart x`],
    ['options with values', `helm upgrade ${'--a b '.repeat(9000)}x`],
    ['unknown options of docker run', `docker run ${'--a b '.repeat(9000)}x`],
    ['words', `docker restart ${'x '.repeat(19_000)}`],
    ['paths', `gh gist create ${'a/b=c/d,e@f/g '.repeat(19_000)}`],
    ['parts', `docker run --mount ${'a=b,'.repeat(200_000)}x img`],
    ['inner words', `ssh host ${'docker x '.repeat(9000)}`],
    ['inner text', `ssh host '${'sudo x;'.repeat(100_000)}'`],
    ['git words', `git push origin ${'+a '.repeat(19_000)}`],
    ['wildcards', `tool ${'aaaaaaaaaaaaaaaaaaaa'.repeat(10_000)}`],
  ])('a great many %s are judged soon', (_, text) => {
    const [program = '', ...args] = words(text)
    const [rules, facts] = [rulesOf('3'), factsOf()]
    expect(cpuMsOf(() => judgeCall({ program, args, cwd: CWD }, rules, facts))).toBeLessThan(1000)
  })

  test('too many are refused', () => {
    expect(verdict('3', `docker restart ${'x '.repeat(20_001)}`)).toBe('unreadable')
    expect(verdict('3', `docker restart ${'x'.repeat(1_000_001)}`)).toBe('unreadable')
  })
})

test('an error while judging refuses the call', () => {
  expect(
    ask('3', 'docker run -v ./x:/x img', { links: { '/work/project/x': '/work/project/x' } }),
  ).toMatchObject({
    decision: 'deny',
    rule: 'unreadable',
  })
})
