/** Where the policy takes a shorter way for what is usual, it comes to the same as the long way. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { askingOnce, baseName } from '../../src/core/policy/command.ts'
import { compilePathPattern, firstTouched, PathIndex } from '../../src/core/policy/path-patterns.ts'
import { joinPath, normalize, pathsOf } from '../../src/core/policy/paths.ts'
import { speaksOf } from '../../src/core/policy/pattern.ts'
import { defaultPolicy, surroundings } from './corpus.ts'

const pathText = fc
  .array(fc.constantFrom('/', '/', '.', '..', 'a', 'b', '.git', 'hooks', 'ie.yaml', 'volumes', '*', '\0'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

test('a path that is normal stays, every other becomes so', () => {
  const plainly = (path: string) => {
    const kept: string[] = []
    for (const part of path.split('/')) {
      if (part === '..') kept.pop()
      else if (part !== '' && part !== '.') kept.push(part)
    }
    return `/${kept.join('/')}`
  }
  fc.assert(
    fc.property(pathText, fc.option(pathText, { nil: undefined }), (path, cwd) => {
      expect(normalize(path)).toBe(plainly(path))
      const whole = path.startsWith('/') ? path : cwd === undefined ? undefined : `${cwd}/${path}`
      for (let time = 0; time < 2; time++)
        expect(joinPath(cwd, path)).toBe(whole === undefined ? undefined : plainly(whole))
      expect(baseName(path)).toBe(path.split('/').at(-1))
    }),
    { numRuns: 2000 },
  )
})

test('a word in one place means what it means in two, of which the second adds nothing', () => {
  const field = fc.record({ text: pathText, glob: fc.constantFrom(true as const, undefined) })
  fc.assert(
    fc.property(field, ({ text, glob }) => {
      const word = glob ? { text, glob } : { text }
      const once = pathsOf(word, ['/work/project'], surroundings)
      expect(pathsOf(word, ['/work/project', '/work/project'], surroundings)).toEqual(once)
    }),
    { numRuns: 2000 },
  )
})

test('of many patterns, the first is found that is found alone', () => {
  const patterns = [
    ...['/volumes/**', 'ie.yaml', '.git/hooks/**', 'a/*/b', '*.yaml', '/a/b', '**/b/**'].map((source) =>
      compilePathPattern(source, '/home/dev'),
    ),
    compilePathPattern('b/a', '/home/dev', true),
  ]
  const all = new PathIndex(patterns)
  fc.assert(
    fc.property(pathText, fc.boolean(), fc.boolean(), fc.boolean(), (text, deep, tree, there) => {
      const touch = { deep, tree, exists: (path: string) => there && path.length % 2 === 0 }
      const path = normalize(`/${text}`)
      const alone = patterns.find((pattern) => firstTouched(new PathIndex([pattern]), [path], touch))
      expect(firstTouched(all, [path], touch)?.pattern).toBe(alone)
    }),
    { numRuns: 5000 },
  )
})

test('the machine is asked once about each path, however many there are', () => {
  const asked: string[] = []
  const { realpath } = askingOnce({
    ...surroundings,
    realpath: (path) => {
      asked.push(path)
      return `${path}!`
    },
  })
  const paths = Array.from({ length: 30 }, (_, index) => `/x${index}`)
  for (const path of [...paths, ...paths.toReversed()]) expect(realpath(path)).toBe(`${path}!`)
  expect(asked).toEqual(paths)
})

test('what speaks of something forbidden has one of the names', () => {
  const { forbidding, forbiddenNames } = defaultPolicy('2')
  const words = forbidding.flatMap(({ spoken }) => spoken.flat())
  const spoken = fc.array(fc.constantFrom(...words, 'x', '$'), { maxLength: 6 })
  fc.assert(
    fc.property(spoken, fc.constantFrom(' ', '', '\n'), (parts, between) => {
      const text = parts.join(between)
      if (forbidding.some((one) => speaksOf(text, one.spoken))) expect(text).toMatch(forbiddenNames)
    }),
    { numRuns: 2000 },
  )
})
