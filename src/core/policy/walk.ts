/**
 * Goes through a shell text as a shell would and notes every command it could start. Branches are all taken; loops are
 * gone through until nothing new comes of it; functions are entered where they are called, with their arguments.
 */
import {
  forEachChild,
  type ParsedScript,
  parse,
  type Function as ShellFunction,
  type SyntaxNode,
} from 'unbash'
import { nested, spend } from './budget.ts'
import {
  baseName,
  type Extraction,
  type Field,
  literal,
  type Redirect,
  type Surroundings,
  UNKNOWN,
} from './command.ts'
import { ENDLESS, repeat, walkCompound, walkStatements } from './compound.ts'
import { CutShort } from './cut-short.ts'
import { Evaluated, holdsArguments } from './evaluated.ts'
import type { Expander } from './expand.ts'
import type { Look, Started, Trap } from './look.ts'
import { noteNumbers } from './numbers.ts'
import { homeOf } from './parameter.ts'
import { joinPath } from './paths.ts'
import { atAnyTime, innerScope, joinCwds, openScope, type Scope } from './scope.ts'
import { walkCommand } from './simple-command.ts'
import { start } from './starts/start.ts'
import { givesGitSettings, renames, type Setting, steers } from './steering.ts'
import { tameOf } from './tame.ts'
import { outputsOf } from './text-output.ts'

const DEEPEST = 12
const MOST_COMMANDS = 500
const MOST_STEPS = 5000
const MOST_WORDS = 2000
const LONGEST_WORD = 8000

export function extractCommands(text: string, surroundings: Surroundings): Extraction {
  const walker = new Walker(surroundings)
  const scope = openScope(surroundings.cwd)
  walker.text(text, scope)
  walker.later(scope)
  walker.evaluate(scope)
  return walker.found
}

export class Walker implements Look {
  readonly found: Extraction = { commands: [], opaque: [] }
  readonly surroundings: Surroundings
  readonly evaluated = new Evaluated()
  private steps = 0
  /** Some text of it has several lines. */
  private lines = false
  /** Since the function that is being gone through was entered. */
  private mayLeave = false
  private called: Set<ShellFunction> | undefined
  private defined: Map<ShellFunction, Scope> | undefined
  private traps: Trap[] | undefined

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings
  }

  opaque(why: string, text: string): void {
    this.found.opaque.push({ why, text })
  }

  sets(variable: string, how: Setting, text: () => string): void {
    if (renames(variable)) this.giveUp(`it sets ${variable}, which gives programs other names`)
    if (!steers(variable, how)) return
    const why = `sets ${variable}, which changes what is started`
    const settings = givesGitSettings(variable, how)
    this.found.opaque.push({ why, text: text(), ...(settings && { settings }) })
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
    spend(source.length + costOfBraces(source))
    const several = source.includes('\n')
    this.lines ||= several
    this.script(parse(source), scope, several ? new CutShort(source) : undefined)
  }

  /** What runs at a time that nobody knows: traps, and functions that are not called by name but, say, by a program. */
  later({ depth }: Scope): void {
    // A list that grows while it is gone through is gone through to its end.
    for (const trap of this.traps ?? []) this.spring(trap, depth + 1)
    for (const [called, scope] of this.defined ?? []) {
      if (!this.called?.has(called)) this.node(called.body, atAnyTime(scope, { depth: depth + 1 }))
    }
  }

  /** What runs in the midst of all else must not change what we know of it. */
  private spring({ text, scope, atEnd }: Trap, depth: number): void {
    const inside = atAnyTime(scope, { depth, ...(!atEnd && { times: ENDLESS }) })
    const { state, cwds } = inside
    const { changes } = state
    this.text(text, inside)
    if (!atEnd && (state.changes > changes || inside.cwds.some((cwd) => !cwds.includes(cwd))))
      this.giveUp('a trap changes what the rest means')
  }

  trap(trap: Trap): void {
    this.traps ??= []
    this.traps.push(trap)
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

  private script(script: ParsedScript, scope: Scope, lines?: CutShort): void {
    const problem = script.errors?.[0]
    if (problem) this.found.error ??= problem.message
    if (!lines) {
      walkStatements(script.commands, scope, this)
      return
    }
    for (const statement of script.commands) {
      const before = scope.state.copy()
      walkStatements([statement], scope, this)
      if (lines.isLeft(statement, before, scope.state)) scope.state.mayBeStill(before)
    }
  }

  /** In a text of several lines, substitutions may have some, too. */
  private inner(script: ParsedScript, scope: Scope): void {
    this.script(script, scope, this.lines && script.commands.length > 1 ? new CutShort(undefined) : undefined)
  }

  node(node: SyntaxNode, scope: Scope): void {
    nested(() => this.visit(node, scope))
  }

  private visit(node: SyntaxNode, scope: Scope): void {
    spend(1)
    if (++this.steps > MOST_STEPS || this.found.commands.length > MOST_COMMANDS) {
      this.giveUp('it is too long, or goes round in circles')
    } else if (node.type === 'Command' && node.prefix.length + node.args.length > MOST_WORDS) {
      this.giveUp('a command has too many words')
    } else if (node.type === 'Command') walkCommand(node, scope, this)
    else walkCompound(node, scope, this)
  }

  define(defined: ShellFunction, scope: Scope): void {
    scope.state.define(defined.name.value, defined, scope.conditional)
    this.defined ??= new Map()
    this.defined.set(defined, scope)
  }

  start(command: Started, scope: Scope, depth: number): void {
    // Programs and rules look through all of it, again and again.
    if (command.words.length > MOST_WORDS) this.giveUp('a command has too many words')
    else if (command.words.some(({ text }) => text.length > LONGEST_WORD))
      this.giveUp(`a word of it is longer than ${LONGEST_WORD} characters`)
    else start(command, scope, this, depth)
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
    for (const { text } of words) spend(text.length + 1)
    spend(scope.redirects.length + redirects.length)
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

  inspect(node: SyntaxNode, scope: Scope): void {
    nested(() => this.inspectOne(node, scope))
  }

  private inspectOne(node: SyntaxNode, scope: Scope): void {
    spend(1)
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') {
      noteNumbers(node, scope, this)
      this.substitute(node.script, scope)
    } else if (node.type === 'ProcessSubstitution') {
      this.processSubstitution(node.script, node.operator === '>', scope)
    } else if (node.type === 'CompoundList') {
      repeat(scope, this, (inside) => walkStatements(node.commands, inside, this), { times: ENDLESS })
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
    const tame = tameOf(script, inside.state)
    this.inner(script, inside)
    const [output, ...others] = outputs ?? []
    if (output && others.length === 0) {
      const [text, ...readings] = output.texts
      if (readings.length > 0 || !output.certain)
        this.opaque('prints what shells read in different ways', text)
      return literal(text.replaceAll(UNKNOWN, '').replace(/\n+$/, ''))
    }
    return tame ? { ...anything, tame } : anything
  }

  processSubstitution(script: ParsedScript | undefined, writes: boolean, scope: Scope): void {
    if (!script) return
    this.inner(
      script,
      innerScope(scope, { redirects: [], ...(writes && { input: { kind: 'unknown' } as const }) }),
    )
  }

  expander(scope: Scope): Expander {
    return new WalkingExpander(this, scope)
  }

  /** `cd`: where what follows runs. */
  changeDirectory(target: Field | undefined, scope: Scope, physically = false): void {
    const from = scope.cwds
    if (!target) scope.cwds = [homeOf(scope.state, this.surroundings.home)]
    else if (target.text === '-') scope.cwds = [undefined]
    else if (target.unknown)
      scope.cwds = target.text.startsWith('/') ? [undefined, joinPath('/', target.text)] : [undefined]
    else scope.cwds = from.map((cwd) => joinPath(cwd, target.text))
    if (physically && target && !target.unknown) {
      const { realpath } = this.surroundings
      const reached = from.map((cwd) =>
        target.text.startsWith('/') ? realpath(target.text) : cwd && realpath(`${cwd}/${target.text}`),
      )
      scope.cwds = joinCwds(scope.cwds, reached)
    }
    scope.state.wasAt(scope.cwds)
  }
}

/** The parser looks for the end of each `{` up to the end of its word; one such look costs little. */
function costOfBraces(source: string): number {
  if (!source.includes('{')) return 0
  let cost = 0
  for (const word of source.split(/\s+/)) cost += ((word.split('{').length - 1) * word.length) / 8
  return cost
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
