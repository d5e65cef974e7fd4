/** Programs for awk: whether one only prints. */
import type { Field } from '../command.ts'
import { givenOptions, optionList } from '../given-options.ts'

export const AWKS = new Set(['awk', 'gawk', 'mawk', 'nawk'])

const OPTIONS = optionList('-F: -v: --field-separator= --assign= --version --help')

/** A program that starts or writes something, or may. */
export function awkActs(args: readonly Field[]): boolean {
  const given = givenOptions(args, OPTIONS, { leading: true })
  if (!given) return true
  const [program, ...others] = [...given.operands, ...given.rest]
  if (!program) return false
  return (
    !!program.unknown ||
    programActs(program.text) ||
    others.some(({ unknown, text }) => unknown === 'many' || text.startsWith('-'))
  )
}

/** After these, `/` begins a regular expression. */
const BEFORE_EXPRESSION = /^(print|printf|return|delete|in|exit|do|else|case|if|while|for|getline)$/

/** What is in parentheses behind these is followed by a statement, which may begin with a regular expression. */
const HEADS = /^(if|while|for|switch)$/

/**
 * Reads it piece by piece. A print lasts until `;` or `}`: a `>` in it, outside of parentheses, writes. Where it is not
 * certain whether `/` divides or begins a regular expression, the program may do anything.
 */
function programActs(text: string): boolean {
  const piece = /\s+|#[^\n]*|\\\n|[A-Za-z_]\w*|\d[\w.]*|\.\d+|\|\||&&|>>?=?|\+\+|--|./gsy
  let operand: boolean | undefined = false
  let printing = false
  let depth = 0
  let before = ''
  /** Of each open parenthesis: whether a statement may follow behind it. */
  const headed: boolean[] = []
  for (let at = 0; at < text.length; ) {
    piece.lastIndex = at
    const [token = ''] = piece.exec(text) ?? []
    at += token.length
    if (/^(\s|#|\\\n)/.test(token)) {
      // What stands before it has ended, or goes on with something that can be divided.
      if (/^\s/.test(token) && token.includes('\n')) operand = false
      continue
    }
    const head = HEADS.test(before)
    before = token
    if (token === '"') {
      const end = endOf(text, at, '"')
      if (end === undefined) return true
      at = end
      operand = true
    } else if (token === '/') {
      if (operand === undefined && text.includes('/', at)) return true
      if (operand === false) {
        const end = endOf(text, at, '/')
        if (end === undefined || isOpenBracket(text.slice(at, end - 1))) return true
        at = end
      }
      operand = operand === false
    } else if (/^[A-Za-z_]/.test(token)) {
      if (/^(system|getline)$/.test(token)) return true
      if (/^printf?$/.test(token)) {
        printing = true
        depth = 0
      }
      operand = !BEFORE_EXPRESSION.test(token)
    } else if (/^[\d.]/.test(token) || token === ']') operand = true
    else if (token === ')') {
      depth--
      operand = headed.pop() === false ? true : undefined
    } else if (token === '++' || token === '--') operand = undefined
    else {
      if (token === '|' || token === '@' || token === '\\') return true
      if (token.startsWith('>') && printing && depth <= 0) return true
      if (token === '(') {
        depth++
        headed.push(head)
      }
      if (token === ';' || token === '}') printing = false
      operand = false
    }
  }
  return false
}

/** Behind the mark that ends it, in the same line. */
function endOf(text: string, from: number, mark: string): number | undefined {
  for (let at = from; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === mark) return at + 1
  }
  return undefined
}

/** Some take `/` in brackets as it stands, others do not. */
const isOpenBracket = (expression: string) =>
  /\[/.test(expression.replaceAll(/\\./gs, '').replaceAll(/\[\^?\]?[^[\]]*(\[:\w+:\][^[\]]*)*\]/g, ''))
