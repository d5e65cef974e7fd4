/** Goes through the syntax of a shell text. Every branch is taken once, whatever its condition. */
import type { Command, SyntaxNode } from 'unbash'
import { inspectArithmetic, inspectWord, readAssignment, readRedirects } from './inspect.ts'
import { type Scope, textOf } from './scope.ts'
import { startCommand } from './start.ts'
import { plainWord } from './words.ts'

export function walkAll(nodes: readonly SyntaxNode[], scope: Scope): void {
  for (const node of nodes) walk(node, scope)
}

function walk(node: SyntaxNode, scope: Scope): void {
  const { findings } = scope
  const again = { ...scope, repeated: true }
  switch (node.type) {
    case 'Statement':
      walk(node.command, scope)
      break
    case 'Command':
      walkCommand(node, scope)
      break
    case 'AndOr':
    case 'Pipeline':
    case 'CompoundList':
      walkAll(node.commands, scope)
      break
    case 'Subshell':
    case 'BraceGroup':
      walk(node.body, scope)
      break
    case 'Coproc':
      if (node.name) findings.add({ ...NOTHING, assignments: [`${node.name.value}=`] })
      walk(node.body, scope)
      break
    case 'If':
      for (const { clause, then } of [node, ...node.elif]) walkAll([clause, then], scope)
      if (node.else) walk(node.else, scope)
      break
    case 'While':
      walkAll([node.clause, node.body], again)
      break
    case 'For':
    case 'Select':
      findings.add({ ...NOTHING, assignments: [`${node.name.value}=`] })
      for (const word of node.wordlist ?? []) inspectWord(word, scope)
      walk(node.body, again)
      break
    case 'ArithmeticFor':
      findings.note(textOf(scope, node), 'evaluates an expression')
      walk(node.body, again)
      break
    case 'Case':
      inspectWord(node.word, scope)
      for (const { pattern, body } of node.items) {
        for (const word of pattern) inspectWord(word, scope)
        walk(body, scope)
      }
      break
    case 'Function':
      findings.define(node.name.value)
      walk(node.body, again)
      break
    case 'Redirected':
      findings.add({ ...NOTHING, redirects: readRedirects(node.redirects, scope) })
      walk(node.command, scope)
      break
    case 'ArithmeticCommand':
      inspectArithmetic(node.body, scope)
      break
    case 'TestCommand':
    case 'TestGroup':
      walk(node.expression, scope)
      break
    case 'TestNot':
      walk(node.operand, scope)
      break
    case 'TestLogical':
      walkAll(node.operands, scope)
      break
    case 'TestUnary':
      // The name may be that of an element, with a substitution in its index.
      if (/^-[vR]$/.test(node.operator)) findings.note(node.operand.text, 'evaluates the name of a variable')
      inspectWord(node.operand, scope)
      break
    case 'TestBinary':
      for (const word of [node.left, node.right]) {
        if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator) && !/^-?\d+$/.test(word.value))
          findings.note(word.text, 'evaluates an expression')
        inspectWord(word, scope)
      }
      break
    default:
      findings.note(textOf(scope, node), 'has a form that is not known')
  }
}

export const NOTHING = {
  argv: [],
  globs: [],
  redirects: [],
  assignments: [],
  elevated: false,
  openEnded: false,
  repeated: false,
}

function walkCommand(node: Command, scope: Scope): void {
  const { findings, elevated, repeated } = scope
  const redirects = readRedirects(node.redirects, scope)
  const assignments: string[] = []
  for (const part of node.prefix)
    if (part.type === 'Assignment') assignments.push(readAssignment(part, scope))
  const argv: string[] = []
  const globs: number[] = []
  let problem: string | undefined
  for (const word of node.name ? [node.name, ...node.args] : node.args) {
    if (word.type === 'Assignment') {
      assignments.push(readAssignment(word, scope))
      continue
    }
    const plain = plainWord(word)
    if ('why' in plain) {
      problem ??= plain.why
      inspectWord(word, scope)
      continue
    }
    if (plain.glob) globs.push(argv.length)
    argv.push(plain.text)
  }
  const text = textOf(scope, node)
  const found = { ...NOTHING, argv, globs, redirects, assignments, elevated, repeated }
  if (globs[0] === 0) problem ??= 'has a pattern in the place of a program'
  if (problem === undefined) {
    startCommand(found, text, scope)
    return
  }
  if (/^(cd|pushd|popd)$/.test(argv[0] ?? '')) findings.goTo(null)
  // Whatever echo is given, it prints it.
  const isPrinted = node.name?.value === 'echo' && argv[0] === 'echo'
  if (isPrinted) findings.use('echo', text)
  else findings.note(text, problem)
  findings.add({ ...found, argv: isPrinted ? ['echo'] : [], globs: [] })
}
