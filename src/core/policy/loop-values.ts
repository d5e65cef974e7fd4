import type { Word } from 'unbash'
import type { Values } from './values.ts'

/** What the variable of a loop holds: of `*.log`, a name of that form. */
export function loopValues(values: Values, words: readonly Word[] | undefined): Values {
  if (!words || !values.unknown) return values
  const patterns = words.filter(({ parts }) => parts !== undefined)
  const plain = patterns.every(
    ({ parts, text }) =>
      parts?.every(({ type }) => type === 'Literal' || type === 'Glob') && !/[~{\\]/.test(text),
  )
  return plain ? { texts: values.texts, unknown: false, globs: patterns.map(({ text }) => text) } : values
}
