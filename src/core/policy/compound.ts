/** What commands are put together by: lists, pipelines, branches, loops, functions. */
import type { Function as ShellFunction, Statement, SyntaxNode, Word } from 'unbash'
import { isWhole, tameIn } from './assignments.ts'
import { type Extraction, NOTHING } from './command.ts'
import { type Expander, expandWords } from './expand.ts'
import type { Look } from './look.ts'
import { loopValues } from './loop-values.ts'
import { noteValue } from './numbers.ts'
import { readRedirections } from './redirections.ts'
import { type Input, innerScope, joinCwds, type Scope } from './scope.ts'
import { outputsOf, type Printed } from './text-output.ts'
import type { Values } from './values.ts'

const MOST_TURNS = 6
const MOST_INPUTS = 8
const UNKNOWN_INPUT: Input = { kind: 'unknown' }
export const ENDLESS = Number.POSITIVE_INFINITY

interface Walking extends Look {
  readonly found: Extraction
  node: (node: SyntaxNode, scope: Scope) => void
  define: (defined: ShellFunction, scope: Scope) => void
  expander: (scope: Scope) => Expander
  inspect: (node: SyntaxNode, scope: Scope) => void
  inspectChildren: (node: SyntaxNode, scope: Scope) => void
}

export function walkCompound(node: SyntaxNode, scope: Scope, walker: Walking): void {
  switch (node.type) {
    case 'Pipeline':
      walkPipeline(node.commands, scope, walker)
      return
    case 'AndOr':
      walkAndOr(node, scope, walker)
      return
    case 'Statement':
      walker.node(node.command, scope)
      return
    case 'CompoundList':
      walkStatements(node.commands, scope, walker)
      return
    case 'BraceGroup':
      walkStatements(node.body.commands, scope, walker)
      return
    case 'Subshell':
      walkStatements(node.body.commands, innerScope(scope), walker)
      return
    case 'Redirected': {
      const { redirects, input } = readRedirections(node.redirects, walker.expander(scope), walker)
      const inside: Scope = {
        ...scope,
        redirects: [...scope.redirects, ...redirects],
        // Where something cannot be opened, nothing of it runs.
        conditional: true,
        ...(input && { input, shell: { input: undefined } }),
      }
      // Opened also if nothing in it is started.
      if (redirects.length > 0) walker.add({ words: NOTHING, redirects, assigned: [] }, scope)
      walker.node(node.command, inside)
      scope.cwds = inside.cwds
      return
    }
    case 'If':
      walker.node(node.clause, scope)
      maybe(scope, (inside) => walker.node(node.then, inside))
      for (const { clause, then } of node.elif) {
        maybe(scope, (inside) => walker.node(clause, inside))
        maybe(scope, (inside) => walker.node(then, inside))
      }
      if (node.else) maybe(scope, (inside) => walker.node(node.else as SyntaxNode, inside))
      return
    case 'While':
      walker.node(node.clause, scope)
      repeat(
        scope,
        walker,
        (inside) => {
          walker.node(node.body, inside)
          walker.node(node.clause, inside)
        },
        { times: ENDLESS },
      )
      return
    case 'For':
    case 'Select':
      walkFor(node, scope, walker)
      return
    case 'ArithmeticFor':
      walker.inspectChildren(node, scope)
      return
    case 'Case':
      walker.inspect(node.word, scope)
      for (const item of node.items) {
        for (const pattern of item.pattern) walker.inspect(pattern, scope)
        maybe(scope, (inside) => walker.node(item.body, inside))
      }
      return
    case 'Function':
      walker.define(node, scope)
      return
    case 'Coproc':
      walker.node(node.body, innerScope(scope, { input: { kind: 'unknown' } }))
      return
    default:
      walker.inspectChildren(node, scope)
  }
}

function walkFor(node: Extract<SyntaxNode, { type: 'For' | 'Select' }>, scope: Scope, walker: Walking): void {
  const values = node.wordlist ? valuesOf(node.wordlist, scope, walker) : { texts: [], unknown: true }
  const name = node.name.value
  walker.sets(name, {}, () => name)
  if (node.type === 'Select' || !node.wordlist) walker.evaluated.holdsAnything(name)
  else for (const word of node.wordlist) noteValue(name, word, scope, walker)
  const held = loopValues(values, node.wordlist)
  // A file may bear any name.
  if (held.globs) walker.evaluated.holdsAnything(name)
  const times =
    values.unknown || node.type === 'Select' ? ENDLESS : scope.times * Math.max(1, values.texts.length)
  const { state } = scope
  const before = state.variables.get(name) ?? { texts: [], unknown: true }
  repeat(
    scope,
    walker,
    (inside) => {
      // In the loop, the variable holds one of these.
      state.assign(name, held, false)
      walker.node(node.body, inside)
    },
    { times },
  )
  // It is certainly entered if there is a word that cannot vanish.
  const entered = node.wordlist?.some(({ parts }) => parts === undefined)
  if (scope.conditional || !entered) state.assign(name, before, true)
}

/** Each runs where those before it have led to, if they succeeded or if they failed. */
function walkAndOr(
  { commands, operators }: Extract<SyntaxNode, { type: 'AndOr' }>,
  scope: Scope,
  walker: Walking,
): void {
  const { conditional } = scope
  let well: Scope['cwds'] | undefined
  let badly = scope.cwds
  for (const [index, command] of commands.entries()) {
    const andThen = operators[index - 1] === '&&'
    const from = well && andThen ? well : badly
    scope.cwds = from
    if (index > 0) scope.conditional = true
    walker.node(command, scope)
    const reached = joinCwds(scope.cwds, from)
    const failed = movesOnlyIfWell(command, scope) ? from : reached
    // `! cd x` succeeds where it was.
    const succeeded = command.type === 'Command' ? scope.cwds : reached
    badly = andThen ? joinCwds(badly, failed) : failed
    well = well && !andThen ? joinCwds(succeeded, well) : succeeded
  }
  scope.conditional = conditional
  scope.cwds = well ? joinCwds(well, badly) : badly
}

/** A `cd` that fails has not gone anywhere, unless it fails over something else. */
function movesOnlyIfWell(node: SyntaxNode, { state }: Scope): boolean {
  if (node.type !== 'Command' || node.name?.value !== 'cd' || node.redirects.length > 0) return false
  if (state.isRedefined('cd') || state.isConstant('PWD') || state.isConstant('OLDPWD')) return false
  return node.args.every((arg) => arg.type === 'Word' && arg.value !== '-')
}

function walkPipeline(commands: readonly SyntaxNode[], scope: Scope, walker: Walking): void {
  const [only] = commands
  if (only && commands.length === 1) {
    walker.node(only, scope)
    return
  }
  let inputs: readonly Input[] = [scope.shell.input ?? scope.input]
  const expander = walker.expander(scope)
  for (const command of commands) {
    const outputs = inputs.map((input) =>
      command.type === 'Command' ? outputsOf(command, expander, input) : undefined,
    )
    // In a loop over three words, what is read is each of them once.
    const times = scope.times > 1 ? Math.ceil(scope.times / inputs.length) : scope.times
    for (const input of inputs) walker.node(command, innerScope(scope, { input, depth: scope.depth, times }))
    inputs = inputsOf(outputs)
  }
}

/** Each that the next command may read. */
function inputsOf(outputs: readonly (readonly Printed[] | undefined)[]): readonly Input[] {
  const printed = outputs.flatMap((output) => output ?? [])
  const texts = new Set(printed.flatMap((output) => output.texts))
  if (texts.size > MOST_INPUTS) return [UNKNOWN_INPUT]
  const certain = outputs.every((output) => output?.every((one) => one.certain))
  const known = [...texts].map((text) => ({ kind: 'text' as const, text }))
  return certain && known.length > 0 ? known : [...known, UNKNOWN_INPUT]
}

export function walkStatements(statements: readonly Statement[], scope: Scope, walker: Walking): void {
  for (const { command, background } of statements) {
    if (background) walker.node(command, innerScope(scope))
    else {
      const before = scope.cwds
      walker.node(command, scope)
      // A `cd` that fails leaves us where we were, and what follows runs there.
      scope.cwds = joinCwds(scope.cwds, before)
    }
  }
}

/** What may happen or not: afterwards, both may be the case. */
function maybe(scope: Scope, work: (inside: Scope) => void, change: Partial<Scope> = {}): void {
  const inside: Scope = { ...scope, ...change, conditional: true }
  work(inside)
  scope.cwds = joinCwds(scope.cwds, inside.cwds)
}

/**
 * What may happen again and again: what a later turn finds was left by those before. So it is gone through until nothing
 * new comes of it, and only the last time counts.
 */
export function repeat(
  scope: Scope,
  walker: Pick<Walking, 'found'>,
  work: (inside: Scope) => void,
  change: Partial<Scope> = {},
): void {
  const start = { state: scope.state.copy(), cwds: scope.cwds }
  const { commands, opaque } = walker.found
  const [from, hidden] = [commands.length, opaque.length]
  let before = scope.state.fingerprint
  for (let turn = 1; ; turn++) {
    const { cwds } = scope
    maybe(scope, work, { ...change, loop: true })
    const after = scope.state.fingerprint
    if ((after === before && scope.cwds.length === cwds.length) || turn > MOST_TURNS) return
    before = after
    commands.length = from
    opaque.length = hidden
    if (turn < MOST_TURNS) continue
    scope.state.forgetChanges(start.state)
    if (scope.cwds.length > start.cwds.length) scope.cwds = joinCwds(scope.cwds, [undefined])
  }
}

function valuesOf(words: readonly Word[], scope: Scope, walker: Walking): Values {
  const fields = expandWords(words, walker.expander(scope)).flat()
  return {
    texts: fields.filter(({ unknown, glob }) => !unknown && !glob).map(({ text }) => text),
    unknown: fields.some(({ unknown, glob }) => unknown || glob),
    ...(!fields.some(({ glob }) => glob) && fields.every(isWhole) && tameIn(fields)),
  }
}
