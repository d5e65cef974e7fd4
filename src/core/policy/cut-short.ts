/**
 * bash leaves out the rest of a line when an expansion or an assignment in it fails, and goes on with the next line:
 * after `: $((1/0)); x=ls` the variable is what it was before.
 */
import { forEachChild, type Statement, type SyntaxNode } from 'unbash'
import type { ShellState } from './shell-state.ts'

const FIXED = /^(UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO)$/
const FAILING = new Set(['Slice', 'Transform', 'Unknown'])

/** Of the statements of one text, in order. */
export class CutShort {
  private readonly source: string | undefined
  private cut = false
  private inFunctions = false
  private end = 0

  /** Without its source, all is taken to stand in one line that others follow. */
  constructor(source: string | undefined) {
    this.source = source
  }

  /** Whether the statement, which has been gone through, may have been left out, or left halfway. */
  isLeft({ command, pos, end }: Statement, state: ShellState): boolean {
    if (this.source?.slice(this.end, pos).includes('\n')) this.cut = false
    this.end = end
    const fails = contains(command, (node) => mayFail(node, state))
    if (fails && contains(command, ({ type }) => type === 'Function')) this.inFunctions = true
    this.cut ||= fails || (this.inFunctions && contains(command, isCommand))
    return this.cut
  }
}

function mayFail(node: SyntaxNode, state: ShellState): boolean {
  switch (node.type) {
    case 'ArithmeticExpansion':
      return true
    case 'ParameterExpansion':
      return node.prefix === '!' || node.index !== undefined || FAILING.has(node.operation?.type ?? '')
    case 'Assignment':
      return node.index !== undefined || FIXED.test(node.name) || state.isConstant(node.name)
    default:
      return false
  }
}

const isCommand = (node: SyntaxNode) => node.type === 'Command' && node.name !== undefined

function contains(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true
  let found = false
  forEachChild(node, (child) => {
    found ||= contains(child, test)
  })
  return found
}
