/** One command as it is written: its variables, words and redirections, in each reading they may have. */
import type { Command, SyntaxNode, Word } from 'unbash'
import { noteAssignment } from './assignments.ts'
import { type Field, literal, NOTHING, type Redirect } from './command.ts'
import { type Expander, expandOne, expandWords, quietly } from './expand.ts'
import type { Look } from './look.ts'
import { noteValues } from './numbers.ts'
import { readRedirections } from './redirections.ts'
import { type Input, joinCwds, type Scope } from './scope.ts'
import { declaresCertainly } from './starts/evaluating.ts'

interface Walking extends Look {
  expander: (scope: Scope) => Expander
  inspect: (node: SyntaxNode, scope: Scope) => void
}

/** Never changed. */
const NONE: never[] = []
const NOWHERE: { redirects: Redirect[]; input: undefined } = { redirects: [], input: undefined }

export function walkCommand(command: Command, scope: Scope, walker: Walking): void {
  const { prefix } = command
  const assignments = prefix.length > 0 ? prefix.filter((part) => part.type === 'Assignment') : NONE
  const { redirects, input } =
    command.redirects.length > 0
      ? readRedirections(command.redirects, walker.expander(scope), walker)
      : NOWHERE
  if (!command.name) {
    for (const assignment of assignments) noteAssignment(assignment, scope, walker)
    if (redirects.length > 0) walker.add({ words: NOTHING, redirects, assigned: NONE }, scope)
    return
  }
  const assigned: string[] = assignments.length > 0 ? [] : NONE
  for (const assignment of assignments) {
    const { name, value, append } = assignment
    walker.inspect(assignment, scope)
    noteValues(assignment, scope, walker)
    const [field, ...others] = value.type === 'Word' ? expandOne(value, quietly(walker.expander(scope))) : []
    const known = field && !field.unknown && others.length === 0 ? field.text : undefined
    assigned.push(`${name}${append ? '+' : ''}=${known ?? (value.type === 'Word' ? value.value : '')}`)
  }
  const inside = reading(command, input, scope)
  const choices = commandWords(command, inside, walker)
  // What one reading does, another may not.
  const at = choices.length > 1 ? { ...inside, conditional: true } : inside
  const { times } = scope
  // In a loop over three words, a command with three readings is each of them once.
  if (times > 1) at.times = Math.ceil(times / choices.length)
  const from = at.cwds
  const reached = choices.map((words) => {
    at.cwds = from
    walker.start({ words, redirects, assigned }, at, 0)
    return at.cwds
  })
  scope.cwds = reached.length > 0 ? reached.reduce(joinCwds) : from
  scope.times = times
}

/** Where something cannot be opened, the command does not run. `exec`, also behind `command`, changes what the shell itself reads. */
function reading({ name, redirects }: Command, input: Input | undefined, scope: Scope): Scope {
  if (input) {
    const shell = /^(exec|command|builtin)$/.test(name?.value ?? '') ? scope.shell : { input: undefined }
    return { ...scope, input, shell, conditional: true }
  }
  const opened = redirects.length > 0
  if (!opened && !scope.shell.input) return scope
  return { ...scope, input: scope.shell.input ?? scope.input, conditional: scope.conditional || opened }
}

function commandWords({ name, args }: Command, scope: Scope, walker: Walking): Field[][] {
  const expander = walker.expander(scope)
  if (name && args.every(isWord)) return expandWords([name, ...args], expander)
  const words: Word[] = name ? [name] : []
  const options = args.flatMap((arg) =>
    arg.type === 'Word' && /^[-+]|[$`*?{]/.test(arg.text) ? arg.value : [],
  )
  const certain = declaresCertainly(name?.value ?? '', options, scope.state)
  const inside = certain ? scope : { ...scope, conditional: true }
  let all: Field[][] | undefined
  for (const arg of args) {
    if (arg.type === 'Word') words.push(arg)
    else {
      // `export X=1`, `alias x=…`.
      const before = expandWords(words.splice(0), expander)
      const values = arg.value.type === 'Word' ? expandOne(arg.value, expander) : [literal(arg.text)]
      const fields = values.map((value) => ({ ...value, text: `${arg.name}=${value.text}` }))
      all = combine(
        combine(all ?? [[]], before),
        fields.map((field) => [field]),
      )
      if (name?.value !== 'alias') noteAssignment(arg, inside, walker, name?.value !== 'local')
    }
  }
  const rest = expandWords(words, expander)
  return all ? combine(all, rest) : rest
}

const isWord = (arg: Command['args'][number]): arg is Word => arg.type === 'Word'

function combine(all: readonly Field[][], choices: readonly Field[][]): Field[][] {
  return all.flatMap((fields) => choices.map((choice) => [...fields, ...choice])).slice(0, 64)
}
