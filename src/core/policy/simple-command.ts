/** One command as it is written: its variables, words and redirections, in each reading they may have. */
import type { Command, SyntaxNode, Word } from 'unbash'
import { noteAssignment } from './assignments.ts'
import { type Field, literal, type Redirect } from './command.ts'
import { type Expander, expandOne, expandWords, quietly } from './expand.ts'
import type { Look } from './look.ts'
import { noteValues } from './numbers.ts'
import { readRedirections } from './redirections.ts'
import type { Input, Scope } from './scope.ts'
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
    command.redirects.length > 0 ? readRedirections(command.redirects, walker.expander(scope)) : NOWHERE
  if (!command.name) {
    for (const assignment of assignments) noteAssignment(assignment, scope, walker)
    if (redirects.length > 0) walker.add({ words: [literal(':')], redirects, assigned: NONE }, scope)
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
  const choices = commandWords(command, scope, walker)
  const { times } = scope
  // In a loop over three words, a command with three readings is each of them once.
  if (times > 1) scope.times = Math.ceil(times / choices.length)
  const inside = reading(input, command.name.value, scope)
  for (const words of choices) {
    walker.start({ words, redirects, assigned }, inside, 0)
  }
  if (inside !== scope) scope.cwds = inside.cwds
  scope.times = times
}

/** `exec`, also behind `command`, changes what the shell itself reads. */
function reading(input: Input | undefined, name: string, scope: Scope): Scope {
  if (input)
    return {
      ...scope,
      input,
      shell: /^(exec|command|builtin)$/.test(name) ? scope.shell : { input: undefined },
    }
  return scope.shell.input ? { ...scope, input: scope.shell.input } : scope
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
