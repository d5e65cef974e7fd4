/** Parts of a command other than its words: what is started to compute them, what they assign and where they redirect. */
import type { Assignment, Redirection, Word, WordPart } from 'unbash'
import type { PlainRedirect } from './reading.ts'
import { type Scope, textOf } from './scope.ts'
import { plainWord } from './words.ts'

/** A word whose value does not matter here: only what is started to compute it does. */
export function inspectWord(word: Word, scope: Scope): void {
  for (const part of word.parts ?? []) inspectPart(part, scope)
}

function inspectPart(part: WordPart, scope: Scope): void {
  const { findings } = scope
  switch (part.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (part.script) scope.script(part.script, scope)
      else findings.note(part.text, 'has a substitution that cannot be read')
      break
    case 'ArithmeticExpansion':
      inspectArithmetic(part.text.replace(/^\$(\(\(|\[)/, '').replace(/(\)\)|\])$/, ''), scope)
      break
    case 'ParameterExpansion': {
      const { operation, prefix, index, text } = part
      if (operation?.type === 'Default' || operation?.type === 'Remove') inspectWord(operation.operand, scope)
      else if (operation) findings.note(text, 'evaluates what a variable holds')
      if (prefix === '!' || index) findings.note(text, 'evaluates what a variable holds')
      if (operation?.type === 'Default' && operation.operator.endsWith('='))
        findings.note(text, 'sets a variable in passing')
      break
    }
    case 'DoubleQuoted':
    case 'LocaleString':
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      for (const child of part.parts ?? []) inspectPart(child, scope)
  }
}

/** A name in an expression is evaluated in turn, and may hold a substitution. */
export function inspectArithmetic(expression: string, { findings }: Scope): void {
  if (!/^[\d\s()+*/%<>=!&|^~?:-]*$/.test(expression)) findings.note(expression, 'evaluates an expression')
}

/** `NAME=value`, as written. */
export function readAssignment({ name, value, index, text }: Assignment, scope: Scope): string {
  if (index && !/^\d+$/.test(index.value)) scope.findings.note(text, 'evaluates an expression')
  if (index) inspectWord(index, scope)
  for (const word of value.type === 'ArrayValue' ? value.elements : [value]) inspectWord(word, scope)
  return value.type === 'Word' ? `${name}=${value.value}` : text
}

export function readRedirects(redirections: readonly Redirection[], scope: Scope): PlainRedirect[] {
  return redirections.flatMap((redirection) => {
    if (redirection.type === 'HereDoc') {
      if (!redirection.delimiter?.quoted)
        for (const part of redirection.body.parts ?? []) inspectPart(part, scope)
      return []
    }
    const { target, operator } = redirection
    if (target) inspectWord(target, scope)
    const { descriptor } = redirection
    if (
      descriptor?.type === 'FileDescriptorVariable' ||
      (operator === '<' && descriptor && descriptor.value !== 0)
    )
      scope.findings.note(textOf(scope, redirection), 'opens a file under another descriptor')
    if (target && operator === '<<<') return []
    const plain = target && plainWord(target)
    if (!plain || 'why' in plain || plain.glob) {
      scope.findings.note(textOf(scope, redirection), 'has a redirection that is not written out')
      return []
    }
    if (operator !== '>&' && operator !== '<&') return [{ op: operator, path: plain.text }]
    // `2>&1` and `>&-` open no file.
    if (/^(\d+-?|-)$/.test(plain.text)) return []
    if (operator === '>&' && !/^[\d-]/.test(plain.text)) return [{ op: '>', path: plain.text }]
    scope.findings.note(textOf(scope, redirection), 'has a redirection that shells read in different ways')
    return []
  })
}
