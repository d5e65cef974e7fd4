/**
 * bash leaves out the rest of a line when an expansion or an assignment in it fails, and goes on with the next line:
 * after `: $((1/0)); x=ls` the variable is what it was before.
 */
import { forEachChild, type Statement, type SyntaxNode, type Word } from 'unbash'
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
  isLeft({ command, pos, end }: Statement, before: ShellState, state: ShellState): boolean {
    if (this.source?.slice(this.end, pos).includes('\n')) this.cut = false
    this.end = end
    // What makes a constant does not fail over it.
    const held = command.type === 'Command' ? before : state
    const fails = contains(command, (node) => mayFail(node, held))
    if (fails && contains(command, ({ type }) => type === 'Function')) this.inFunctions = true
    this.cut ||= fails || (this.inFunctions && contains(command, (node) => mayCall(node, state)))
    return this.cut
  }
}

function mayFail(node: SyntaxNode, state: ShellState): boolean {
  switch (node.type) {
    case 'ArithmeticExpansion':
      return true
    case 'ParameterExpansion':
      return (
        node.prefix === '!' ||
        !isPlace(node.index) ||
        (FAILING.has(node.operation?.type ?? '') && !PLAIN_SLICE.test(node.text))
      )
    case 'Assignment':
      return node.index !== undefined || FIXED.test(node.name) || state.isConstant(node.name)
    default:
      return false
  }
}

const isPlace = (index: Word | undefined) => index === undefined || /^(\d{1,6}|[@*])$/.test(index.text)
const PLAIN_SLICE = /^\$\{[\w@*[\]]+:\d{1,6}(:\d{1,6})?\}$/

/** A function of this text, or what is not known. */
const mayCall = (node: SyntaxNode, { functions }: ShellState) =>
  node.type === 'Command' &&
  node.name !== undefined &&
  (node.name.parts !== undefined || node.name.value === 'eval' || functions.has(node.name.value))

function contains(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  if (test(node)) return true
  let found = false
  forEachChild(node, (child) => {
    found ||= contains(child, test)
  })
  return found
}
