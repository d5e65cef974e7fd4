/** What `${x#y}`, `${x/y/z}` and their kin make of a text, where that is certain. */
import type { ParameterOperation, Word } from 'unbash'
import { spend } from './budget.ts'

type ExpandOne = (word: Word) => readonly { text: string; unknown?: unknown; glob?: unknown }[]

const LONGEST = 2000

/** `undefined`: that cannot be known. Several: it depends on how the shell is set up. */
export function operate(
  text: string,
  operation: ParameterOperation,
  expandOne: ExpandOne,
): readonly string[] | undefined {
  if (text.length > LONGEST) return undefined
  switch (operation.type) {
    case 'Remove': {
      const pattern = patternOf(operation.operand, expandOne)
      return pattern === undefined ? undefined : [removed(text, operation.operator, pattern)]
    }
    case 'Replace':
      return replaced(text, operation, expandOne)
    case 'Slice':
      return sliced(text, operation.offset.value, operation.length?.value)
    case 'CaseModification':
      return operation.operand?.value ? undefined : [cased(text, operation.operator)]
    case 'Transform':
      switch (operation.operand.value) {
        case 'U':
          return [text.toUpperCase()]
        case 'L':
          return [text.toLowerCase()]
        case 'u':
          return [cased(text, '^')]
        default:
          return undefined
      }
    default:
      return undefined
  }
}

function cased(text: string, operator: '^' | '^^' | ',' | ',,'): string {
  switch (operator) {
    case '^^':
      return text.toUpperCase()
    case ',,':
      return text.toLowerCase()
    case '^':
      return text.slice(0, 1).toUpperCase() + text.slice(1)
    default:
      return text.slice(0, 1).toLowerCase() + text.slice(1)
  }
}

function removed(text: string, operator: '#' | '##' | '%' | '%%', pattern: string): string {
  spend(mostTries(text, pattern) * (text.length + 1))
  const whole = new RegExp(`^(?:${pattern})$`, 's')
  const places = Array.from({ length: text.length + 1 }, (_, at) => at)
  if (operator === '##' || operator === '%') places.reverse()
  const front = operator.startsWith('#')
  const at = places.find((place) => whole.test(front ? text.slice(0, place) : text.slice(place)))
  if (at === undefined) return text
  return front ? text.slice(at) : text.slice(0, at)
}

function replaced(
  text: string,
  { operator, pattern, replacement }: Extract<ParameterOperation, { type: 'Replace' }>,
  expandOne: ExpandOne,
): readonly string[] | undefined {
  const source = patternOf(pattern, expandOne)
  const [by, ...others] = expandOne(replacement)
  // `&` stands for what was found.
  if (source === undefined || !by || others.length > 0 || by.unknown || /[&\\]/.test(by.text))
    return undefined
  if (source === '')
    return operator === '/#' ? [by.text + text] : operator === '/%' ? [text + by.text] : [text]
  const from = operator === '/#' ? '^' : ''
  const to = operator === '/%' ? '$' : ''
  const flags = operator === '//' ? 'gs' : 's'
  spend(mostTries(text, source) * (text.length + 1) + text.length * by.text.length)
  // Shells can be told to disregard case.
  const made = ['', 'i'].map((more) =>
    text.replace(new RegExp(`${from}(?:${source})${to}`, flags + more), () => by.text),
  )
  return [...new Set(made)]
}

function sliced(text: string, offset: string, length: string | undefined): readonly string[] | undefined {
  const number = /^ *-?\d{1,6} *$/
  if (!number.test(offset) || (length !== undefined && !number.test(length))) return undefined
  const at = Number(offset)
  const from = at < 0 ? text.length + at : at
  if (from < 0) return ['']
  if (length === undefined) return [text.slice(from)]
  const count = Number(length)
  const to = count < 0 ? text.length + count : from + count
  return to < from ? undefined : [text.slice(from, to)]
}

/** How many ways there are to divide the text among the stars of a pattern. */
const mostTries = (text: string, pattern: string) =>
  (text.length + 1) ** (pattern.split('.*').length - 1) + pattern.length

/** As a regular expression; only what is written out, `*` and `?`. */
function patternOf(word: Word, expandOne: ExpandOne): string | undefined {
  const { parts } = word
  if (parts?.some(({ type }) => type === 'Glob' || type === 'ExtendedGlob')) {
    const pieces = parts.map((part) => {
      if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted')
        return escaped(part.value)
      if (part.type !== 'Glob' || part.kind === 'bracket') return undefined
      return part.kind === 'star' ? '.*' : '.'
    })
    return pieces.includes(undefined) ? undefined : pieces.join('')
  }
  const [field, ...others] = expandOne(word)
  if (!field || others.length > 0 || field.unknown || field.glob) return undefined
  // From a variable, these are patterns; written out, they are quoted.
  return parts !== undefined && /[*?[\\]/.test(field.text) ? undefined : escaped(field.text)
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
