/** One command with its words known: takes off what only wraps another command, until the program itself is left. */
import { type Field, literal, showCommand } from '../command.ts'
import type { Look, Started } from '../look.ts'
import { onlyLooks } from '../observe.ts'
import type { Scope } from '../scope.ts'
import { isCalled, SPECIAL } from './called.ts'
import { CONTROLLING, READS_OTHERWISE } from './controlling.ts'
import { EVALUATING, evaluating } from './evaluating.ts'
import { findCommands } from './find.ts'
import { startGit } from './git.ts'
import { interprets, isInterpreter } from './interpreters.ts'
import { startShell } from './shells.ts'
import { Starting } from './starting.ts'
import { startShellOfUser } from './su.ts'
import { startWrapped, wrapperOf } from './wrapped.ts'
import { SHELLS, STARTERS, WRAPPERS } from './wrappers.ts'
import { xargsCommands } from './xargs.ts'

const DEEPEST = 24

export function start(command: Started, scope: Scope, walker: Look, depth = 0): void {
  const { words } = command
  const name = words[0]
  if (!name) {
    walker.add({ ...command, words: [literal(':')] }, scope)
    return
  }
  // Behind a wrapper: some take it as a variable, the others would not find such a program.
  if (depth > 0 && words.length > 1 && /^[A-Za-z_]\w*\+?=/.test(name.text)) {
    const assigned = [...command.assigned, name.text]
    start({ ...command, words: words.slice(1), assigned }, scope, walker, depth + 1)
    return
  }
  if (depth > DEEPEST) {
    walker.giveUp('it is nested too deeply')
    return
  }
  if (command.assigned.length > 0) {
    noteAssigned(command, walker)
    if (SPECIAL.has(name.text)) scope.state.withAssigned(command.assigned, () => {})
  }
  if (name.unknown || name.glob) {
    walker.opaque('has a name that only the running shell knows', showCommand(command))
    walker.add(command, scope)
    return
  }
  const starting = new Starting(command, name, scope, walker, depth)
  const { conditional } = scope
  if (depth === 0 && scope.state.isRedefined(name.text)) {
    if (isCalled(starting)) return
    scope.conditional = true
  }
  const handle = HANDLERS.get(starting.program)
  if (handle) handle(starting)
  else if (isInterpreter(starting.program)) startInterpreter(starting)
  else startOther(starting)
  scope.conditional = conditional
}

function noteAssigned(command: Started, walker: Look): void {
  for (const assignment of command.assigned) {
    const [, variable = '', value = ''] = /^(\w*)[^=]*=(.*)$/s.exec(assignment) ?? []
    walker.evaluated.holds(variable, value)
    if (/^(SHELLOPTS|BASHOPTS)$/.test(variable)) walker.giveUp(READS_OTHERWISE)
    if (variable.startsWith('BASH_FUNC_')) walker.giveUp('it hands a function to another shell')
    walker.sets(variable, { value, given: true }, () => `${assignment} ${showCommand(command)}`)
  }
}

type Handler = (starting: Starting) => void

/** By program; of those that are none of these, nothing is known but their name. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...[...STARTERS].map((name) => [name, startStarter] as const),
  ...['awk', 'gawk', 'mawk', 'nawk', 'sed'].map((name) => [name, startInterpreter] as const),
  ...[...WRAPPERS.keys()].map((name) => [name, startWrapper] as const),
  ...[...SHELLS].map((name) => [name, startShell] as const),
  ...[...EVALUATING].map((name) => [name, startEvaluating] as const),
  ...Object.entries(CONTROLLING).map(([name, control]) => [name, controlling(control)] as const),
  ['exec', startExec],
  ['su', startUser],
  ['runuser', startUser],
  ['xargs', startXargs],
  ['find', startFind],
  ['fd', startFind],
  ['fdfind', startFind],
  ['git', startGit],
  ['ansible', startAnsible],
])

function controlling(control: Handler): Handler {
  return (starting) => {
    control(starting)
    starting.done()
  }
}

function startEvaluating(starting: Starting): void {
  const { program, args, scope, walker } = starting
  const inner = evaluating(program, args, scope, walker)
  if (inner.length > 0) starting.next(inner)
  starting.done()
}

function startExec(starting: Starting): void {
  const { args, scope } = starting
  if (args.every(({ text }) => text.length > 1 && text.startsWith('-'))) scope.shell.input = scope.input
  startWrapper(starting)
}

function startUser(starting: Starting): void {
  if (!startShellOfUser(starting)) startWrapper(starting)
}

function startXargs(starting: Starting): void {
  xargsCommands(
    starting.args,
    starting.scope,
    (words, inside) => starting.next(words, {}, inside),
    (why) => starting.opaque(why),
  )
  starting.done()
}

function startFind(starting: Starting): void {
  const again = { ...starting.scope, times: Number.POSITIVE_INFINITY }
  findCommands(starting.program, starting.args, (words) => starting.next(words, { redirects: [] }, again))
  starting.done()
}

function startAnsible(starting: Starting): void {
  const { args, command, program } = starting
  if (onlyLooks({ words: command.words, program, args })) {
    startOther(starting)
    return
  }
  const at = args.findIndex(({ text }) => /^(-a|--args)$/.test(text))
  const inline = args.find(({ text }) => /^(-a.|--args=)/.test(text))
  const given: Field | undefined =
    at === -1 ? inline && { ...inline, text: inline.text.replace(/^(-a|--args=)/, '') } : args[at + 1]
  starting.gives(given, [], { cleared: true })
  starting.opaque('starts what its module says')
  starting.done()
}

function startInterpreter(starting: Starting): void {
  if (!interprets(starting)) {
    startOther(starting)
    return
  }
  starting.walker.opaque(`runs a program text (${starting.program})`, withInput(starting))
  starting.done()
}

function startWrapper(starting: Starting): void {
  const wrapper = wrapperOf(starting)
  if (wrapper) startWrapped(wrapper, starting)
  else if (STARTERS.has(starting.program)) startStarter(starting)
  else startOther(starting)
}

const AGAIN_AND_AGAIN = /^(parallel|rush|entr|inotifywait|fswatch|nodemon|forever|pm2|crontab|pssh|pdsh|dsh)$/

function startStarter(starting: Starting): void {
  const { command, program, args, scope, walker } = starting
  if (isInterpreter(program) && interprets(starting)) {
    startInterpreter(starting)
    return
  }
  if (onlyLooks({ words: command.words, program, args })) {
    startOther(starting)
    return
  }
  walker.opaque(`starts what is written elsewhere (${program})`, withInput(starting))
  if (AGAIN_AND_AGAIN.test(program)) walker.add(command, { ...scope, times: Number.POSITIVE_INFINITY })
  else starting.done()
}

const USUAL_PLACE = /^\/(usr\/(local\/)?)?s?bin\//

function startOther(starting: Starting): void {
  const { text } = starting.name
  if (text.includes('/') && !USUAL_PLACE.test(text))
    starting.opaque('is started by its path and may be anything')
  starting.done()
}

function withInput({ command, scope: { input } }: Starting): string {
  const shown = showCommand(command)
  return input.kind === 'text' ? `${shown}\n${input.text}` : shown
}
