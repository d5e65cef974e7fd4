/**
 * Goes through a shell text as a shell would and notes every command it could start. Branches are all taken; loops are
 * gone through until nothing new comes of it; functions are entered where they are called, with their arguments.
 */
import {
  forEachChild,
  type ParsedScript,
  parse,
  type Function as ShellFunction,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { tameIn } from './assignments.ts'
import {
  baseName,
  type Extraction,
  type Field,
  literal,
  type Redirect,
  type Surroundings,
  UNKNOWN,
} from './command.ts'
import { Evaluated, holdsArguments } from './evaluated.ts'
import { type Expander, expandWords } from './expand.ts'
import type { Look, Started } from './look.ts'
import { loopValues } from './loop-values.ts'
import { noteNumbers, noteValue } from './numbers.ts'
import { homeOf } from './parameter.ts'
import { joinPath } from './paths.ts'
import { readRedirections } from './redirections.ts'
import { innerScope, joinCwds, openScope, type Scope } from './scope.ts'
import { ANYTHING, type Values } from './shell-state.ts'
import { walkCommand } from './simple-command.ts'
import { start } from './starts/start.ts'
import { steers } from './steering.ts'
import { tameOf } from './tame.ts'
import { outputsOf } from './text-output.ts'

const DEEPEST = 12
const MOST_COMMANDS = 500
const MOST_STEPS = 5000
const MOST_WORDS = 2000
const MOST_TURNS = 6
const ENDLESS = Number.POSITIVE_INFINITY

export function extractCommands(text: string, surroundings: Surroundings): Extraction {
  const walker = new Walker(surroundings)
  const scope = openScope(surroundings.cwd)
  walker.text(text, scope)
  walker.uncalled(scope)
  walker.evaluate(scope)
  return walker.found
}

export class Walker implements Look {
  readonly found: Extraction = { commands: [], opaque: [] }
  readonly surroundings: Surroundings
  readonly evaluated = new Evaluated()
  private steps = 0
  /** Since the function that is being gone through was entered. */
  private mayLeave = false
  private called: Set<ShellFunction> | undefined
  private defined: Map<ShellFunction, Scope> | undefined

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings
  }

  opaque(why: string, text: string): void {
    this.found.opaque.push({ why, text })
  }

  /** What was not looked at may be anything, so the whole text is refused. */
  giveUp(why: string): void {
    this.found.error ??= why
  }

  text(source: string, scope: Scope): void {
    if (scope.depth > DEEPEST) {
      this.giveUp('it is nested too deeply')
      return
    }
    this.script(parse(source), scope)
  }

  /** Functions that are never called by name may still be: by `trap`, by a program that is told their name. */
  uncalled(scope: Scope): void {
    if (!this.defined) return
    for (const [called, at] of this.defined) {
      if (!this.called?.has(called)) this.isolated(called.body, innerScope(at, { depth: scope.depth + 1 }))
    }
  }

  private isolated(body: SyntaxNode, scope: Scope): void {
    scope.state.setArguments([[ANYTHING]], false)
    this.node(body, scope)
  }

  /** What variables hold that were taken for numbers or names. */
  evaluate(scope: Scope): void {
    if (this.evaluated.isEmpty) return
    for (const { name, text } of this.evaluated.found()) {
      if (text === undefined)
        this.opaque(
          `takes for a number or a name what ${name} holds, which is not known (\`tr -dc 0-9\` at the end of what it is filled with would leave a number)`,
          name,
        )
      else this.runs(text, scope)
    }
  }

  /** A text that bash evaluates once more: what is substituted in it runs. */
  runs(text: string, scope: Scope): void {
    this.opaque('has a text evaluated that starts something', text)
    this.text(`: <<evaluated\n${text}\nevaluated`, innerScope(scope))
  }

  private script(script: ParsedScript, scope: Scope): void {
    const problem = script.errors?.[0]
    if (problem) this.found.error ??= problem.message
    this.statements(script.commands, scope)
  }

  private statements(statements: readonly Statement[], scope: Scope): void {
    for (const { command, background } of statements) {
      if (background) this.node(command, innerScope(scope))
      else {
        const before = scope.cwds
        this.node(command, scope)
        // A `cd` that fails leaves us where we were, and what follows runs there.
        scope.cwds = joinCwds(scope.cwds, before)
      }
    }
  }

  /** What may happen or not: afterwards, both may be the case. */
  private maybe(scope: Scope, work: (inside: Scope) => void, change: Partial<Scope> = {}): void {
    const inside: Scope = { ...scope, ...change, conditional: true }
    work(inside)
    scope.cwds = joinCwds(scope.cwds, inside.cwds)
  }

  /**
   * What may happen again and again: what a later turn finds was left by those before. So it is gone through until nothing
   * new comes of it, and only the last time counts.
   */
  private repeated(scope: Scope, work: (inside: Scope) => void, change: Partial<Scope> = {}): void {
    const start = { state: scope.state.copy(), cwds: scope.cwds }
    const { commands, opaque } = this.found
    const [from, hidden] = [commands.length, opaque.length]
    let before = scope.state.fingerprint
    for (let turn = 1; ; turn++) {
      const { cwds } = scope
      this.maybe(scope, work, { ...change, loop: true })
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

  node(node: SyntaxNode, scope: Scope): void {
    if (++this.steps > MOST_STEPS || this.found.commands.length > MOST_COMMANDS) {
      this.giveUp('it is too long, or goes round in circles')
      return
    }
    switch (node.type) {
      case 'Command':
        walkCommand(node, scope, this)
        return
      case 'Pipeline':
        this.pipeline(node.commands, scope)
        return
      case 'AndOr':
        this.andOr(node, scope)
        return
      case 'Statement':
        this.node(node.command, scope)
        return
      case 'CompoundList':
        this.statements(node.commands, scope)
        return
      case 'BraceGroup':
        this.statements(node.body.commands, scope)
        return
      case 'Subshell':
        this.statements(node.body.commands, innerScope(scope))
        return
      case 'Redirected': {
        const { redirects, input } = readRedirections(node.redirects, this.expander(scope))
        const inside: Scope = {
          ...scope,
          redirects: [...scope.redirects, ...redirects],
          ...(input && { input, shell: { input: undefined } }),
        }
        this.node(node.command, inside)
        scope.cwds = inside.cwds
        return
      }
      case 'If':
        this.node(node.clause, scope)
        this.maybe(scope, (inside) => this.node(node.then, inside))
        for (const { clause, then } of node.elif) {
          this.maybe(scope, (inside) => this.node(clause, inside))
          this.maybe(scope, (inside) => this.node(then, inside))
        }
        if (node.else) this.maybe(scope, (inside) => this.node(node.else as SyntaxNode, inside))
        return
      case 'While':
        this.node(node.clause, scope)
        this.repeated(
          scope,
          (inside) => {
            this.node(node.body, inside)
            this.node(node.clause, inside)
          },
          { times: ENDLESS },
        )
        return
      case 'For':
      case 'Select': {
        const values = node.wordlist ? this.values(node.wordlist, scope) : { texts: [], unknown: true }
        const name = node.name.value
        if (steers(name)) this.opaque(`sets ${name}, which changes what is started`, name)
        if (node.type === 'Select' || !node.wordlist) this.evaluated.holdsAnything(name)
        else for (const word of node.wordlist) noteValue(name, word, this.evaluated)
        const held = loopValues(values, node.wordlist)
        // A file may bear any name.
        if (held.globs) this.evaluated.holdsAnything(name)
        const times =
          values.unknown || node.type === 'Select' ? ENDLESS : scope.times * Math.max(1, values.texts.length)
        const { state } = scope
        const before = state.variables.get(name) ?? { texts: [], unknown: true }
        this.repeated(
          scope,
          (inside) => {
            // In the loop, the variable holds one of these.
            state.assign(name, held, false)
            this.node(node.body, inside)
          },
          { times },
        )
        // It is certainly entered if there is a word that cannot vanish.
        const entered = node.wordlist?.some(({ parts }) => parts === undefined)
        if (scope.conditional || !entered) state.assign(name, before, true)
        return
      }
      case 'ArithmeticFor':
        this.inspectChildren(node, scope)
        return
      case 'Case':
        this.inspect(node.word, scope)
        for (const item of node.items) {
          for (const pattern of item.pattern) this.inspect(pattern, scope)
          this.maybe(scope, (inside) => this.node(item.body, inside))
        }
        return
      case 'Function':
        scope.state.define(node.name.value, node, scope.conditional)
        this.defined ??= new Map()
        this.defined.set(node, scope)
        return
      case 'Coproc':
        this.node(node.body, innerScope(scope, { input: { kind: 'unknown' } }))
        return
      default:
        this.inspectChildren(node, scope)
    }
  }

  private andOr({ commands, operators }: Extract<SyntaxNode, { type: 'AndOr' }>, scope: Scope): void {
    const { conditional } = scope
    const all: Scope['cwds'][] = []
    for (const [index, command] of commands.entries()) {
      const before = scope.cwds
      if (index > 0) scope.conditional = true
      this.node(command, scope)
      all.push(scope.cwds)
      // After `||` the left side has failed: a `cd` there did not happen.
      if (operators[index] === '||') scope.cwds = before
    }
    scope.conditional = conditional
    scope.cwds = all.reduce(joinCwds, scope.cwds)
  }

  private pipeline(commands: readonly SyntaxNode[], scope: Scope): void {
    const [only] = commands
    if (only && commands.length === 1) {
      this.node(only, scope)
      return
    }
    let input = scope.shell.input ?? scope.input
    const expander = this.expander(scope)
    for (const command of commands) {
      const outputs = command.type === 'Command' ? outputsOf(command, expander, input) : undefined
      this.node(command, innerScope(scope, { input, depth: scope.depth }))
      // Where it may be this or that, it is taken to be all of it.
      input = outputs ? { kind: 'text', text: outputs.join('\n') } : { kind: 'unknown' }
    }
  }

  start(command: Started, scope: Scope, depth: number): void {
    start(command, scope, this, depth)
  }

  /** Notes a command that would run as it stands. */
  add(
    {
      words,
      redirects,
      assigned,
    }: { words: readonly Field[]; redirects: readonly Redirect[]; assigned: readonly string[] },
    scope: Scope,
  ): void {
    if (words.length > MOST_WORDS) {
      this.giveUp('a command has too many words')
      return
    }
    const all = scope.redirects.length > 0 ? [...scope.redirects, ...redirects] : redirects
    const { cwds, times, input } = scope
    const fed = input.kind === 'unknown' || (input.kind === 'text' && input.text.trim() !== '')
    const program = baseName(words[0]?.text ?? '')
    this.found.commands.push({
      words,
      program,
      args: words.slice(1),
      cwds,
      redirects: all,
      assigned,
      times,
      fed,
    })
  }

  /** Enters a function of this text. Says whether no program of that name would be started instead. */
  call(name: string, args: readonly Field[], scope: Scope): boolean {
    const defined = scope.state.functions.get(name)
    if (!defined) return false
    if (scope.depth > DEEPEST) {
      this.giveUp('it calls itself too often')
      return true
    }
    holdsArguments(this.evaluated, args)
    const { mayLeave } = this
    for (const called of defined.bodies) {
      this.called ??= new Set()
      this.called.add(called)
      const inside: Scope = { ...scope, depth: scope.depth + 1 }
      scope.state.call(args, () => {
        this.mayLeave = false
        this.node(called.body, inside)
        return this.mayLeave
      })
      scope.cwds = joinCwds(scope.cwds, inside.cwds)
    }
    this.mayLeave = mayLeave
    return defined.certain
  }

  /** `return`: what follows may not run. */
  leave(): void {
    this.mayLeave = true
  }

  private values(words: readonly Word[], scope: Scope): Values {
    const fields = expandWords(words, this.expander(scope)).flat()
    return {
      texts: fields.filter(({ unknown, glob }) => !unknown && !glob).map(({ text }) => text),
      unknown: fields.some(({ unknown, glob }) => unknown || glob),
      ...(!fields.some(({ glob }) => glob) && tameIn(fields)),
    }
  }

  inspect(node: SyntaxNode, scope: Scope): void {
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') {
      noteNumbers(node, scope, this)
      this.substitute(node.script, scope)
    } else if (node.type === 'ProcessSubstitution') {
      this.processSubstitution(node.script, node.operator === '>', scope)
    } else if (node.type === 'CompoundList') {
      this.repeated(scope, (inside) => this.statements(node.commands, inside), { times: ENDLESS })
    } else this.inspectChildren(node, scope)
  }

  inspectChildren(node: SyntaxNode, scope: Scope): void {
    if (node.type === 'Word' && node.parts === undefined) return
    noteNumbers(node, scope, this)
    forEachChild(node, (child) => this.inspect(child, scope))
  }

  substitute(script: ParsedScript | undefined, scope: Scope): Field {
    const anything: Field = { text: UNKNOWN, unknown: 'one' }
    if (!script) return anything
    const inside = innerScope(scope, { redirects: [] })
    if (inside.depth > DEEPEST) {
      this.giveUp('it is nested too deeply')
      return anything
    }
    const only = script.commands.length === 1 ? script.commands[0]?.command : undefined
    const outputs =
      only?.type === 'Command' ? outputsOf(only, this.expander(inside), inside.input) : undefined
    const tame = tameOf(script)
    this.script(script, inside)
    const [output, ...others] = outputs ?? []
    if (output !== undefined && others.length === 0) return literal(output.replace(/\n+$/, ''))
    return tame ? { ...anything, tame } : anything
  }

  processSubstitution(script: ParsedScript | undefined, writes: boolean, scope: Scope): void {
    if (!script) return
    this.script(
      script,
      innerScope(scope, { redirects: [], ...(writes && { input: { kind: 'unknown' } as const }) }),
    )
  }

  expander(scope: Scope): Expander {
    return new WalkingExpander(this, scope)
  }

  /** `cd`: where what follows runs. */
  changeDirectory(target: Field | undefined, scope: Scope): void {
    if (!target) scope.cwds = [homeOf(scope.state, this.surroundings.home)]
    else if (target.text === '-') scope.cwds = [undefined]
    else if (target.unknown)
      scope.cwds = target.text.startsWith('/') ? [undefined, joinPath('/', target.text)] : [undefined]
    else scope.cwds = scope.cwds.map((cwd) => joinPath(cwd, target.text))
  }
}

/** Notes what is started by the way. */
class WalkingExpander implements Expander {
  readonly scope: Scope
  readonly home: string
  private readonly walker: Walker

  constructor(walker: Walker, scope: Scope) {
    this.walker = walker
    this.scope = scope
    this.home = walker.surroundings.home
  }

  substitute(script: ParsedScript | undefined): Field {
    return this.walker.substitute(script, this.scope)
  }

  inspect(node: SyntaxNode): void {
    this.walker.inspectChildren(node, this.scope)
  }

  processSubstitution(script: ParsedScript | undefined, writes: boolean): void {
    this.walker.processSubstitution(script, writes, this.scope)
  }
}
