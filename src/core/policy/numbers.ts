/** Notes what bash takes for a number or a name, and what variables hold that may be taken for one: see `evaluated.ts`. */
import type { Assignment, SyntaxNode, Word } from 'unbash'
import { isLive, piecesOf } from './evaluated.ts'
import type { Look } from './look.ts'
import type { Scope } from './scope.ts'
import { isNumericScript } from './tame.ts'

const NOT_A_NUMBER = 'takes for a number what is not known (`tr -dc 0-9` at its end would leave a number)'

/** What a variable may hold from now on, or held before. */
export function noteValues({ name, value }: Assignment, scope: Scope, walker: Look): void {
  for (const word of value.type === 'ArrayValue' ? value.elements : [value])
    noteValue(name, word, scope, walker)
}

export function noteValue(name: string, word: Word, { state }: Scope, { evaluated }: Look): void {
  const { written, variables, runs } = piecesOf(word)
  for (const text of written) evaluated.holds(name, text)
  for (const text of variables) evaluated.isMadeOf(name, text)
  if (runs.some((part) => part.type !== 'CommandExpansion' || !isNumericScript(part.script, state)))
    evaluated.holdsAnything(name)
}

/** Taken for a number, or for a name that may have an index. */
export function noteNumber(word: Pick<Word, 'value' | 'parts'>, scope: Scope, walker: Look): void {
  const { written, variables, runs } = piecesOf(word)
  for (const text of written) {
    if (word.parts && isLive(text)) walker.runs(text, scope)
    walker.evaluated.wants(text)
  }
  for (const text of variables) walker.evaluated.wants(text)
  if (runs.some((part) => part.type !== 'CommandExpansion' || !isNumericScript(part.script, scope.state)))
    walker.opaque(NOT_A_NUMBER, word.value)
}

/** Parts that bash takes for numbers or names. */
export function noteNumbers(node: SyntaxNode, scope: Scope, walker: Look): void {
  const number = (word: Pick<Word, 'value' | 'parts'>) => noteNumber(word, scope, walker)
  switch (node.type) {
    case 'ArithmeticWord':
      number(node)
      return
    case 'ArithmeticCommandExpansion':
      if (!isNumericScript(node.script, scope.state)) walker.opaque(NOT_A_NUMBER, node.text)
      return
    case 'TestBinary':
      if (!/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) return
      number(node.left)
      number(node.right)
      return
    case 'TestUnary':
      if (node.operator === '-v' || node.operator === '-R') number(node.operand)
      return
    case 'Assignment':
      if (node.index) number(node.index)
      return
    case 'Slice':
      number(node.offset)
      if (node.length) number(node.length)
      return
    case 'ParameterExpansion': {
      const { index, operation, prefix, parameter } = node
      const all = index?.value === '@' || index?.value === '*'
      if (index && !all) number(index)
      if (prefix === '!' && !all && operation?.type !== 'Names') walker.evaluated.wants(`\${${parameter}}`)
      if (operation?.type === 'Default' && operation.operator.includes('=')) {
        walker.sets(parameter, {}, () => node.text)
        noteValue(parameter, operation.operand, scope, walker)
      }
      if (
        operation?.type === 'Unknown' ||
        (operation?.type === 'Transform' && operation.operand.value === 'P')
      ) {
        walker.evaluated.wants(`\${${parameter}}`)
        walker.opaque('evaluates what a variable holds', node.text)
      }
    }
  }
}
