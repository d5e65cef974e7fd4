/** A command that is written out: what it starts, one wrapper after the other. */
import type { Found } from './findings.ts'
import { deeper, type Scope } from './scope.ts'
import { unwrap } from './unwrap.ts'

/** They only assign, unless an option makes them evaluate what they are given. */
const DECLARING = new Set(['export', 'declare', 'typeset', 'local', 'readonly'])

/** `text` is the command as it stands in the source. */
export function startCommand(command: Found, text: string, scope: Scope): void {
  const { findings } = scope
  const [name = ''] = command.argv
  findings.use(name, text)
  if (command.argv.length === 0 && command.openEnded)
    findings.note(text, 'takes the name of a program from its input')
  if (name === 'cd' || name === 'pushd') changeDirectory(command.argv.slice(1), text, scope)
  if (DECLARING.has(name)) {
    declare(command, text, scope)
    return
  }
  const unwrapped = unwrap(command.argv)
  switch (unwrapped.kind) {
    case 'itself':
      findings.add(command)
      break
    case 'opaque':
      findings.add(command, unwrapped.why)
      break
    case 'unclear':
      findings.note(text, unwrapped.why)
      findings.add(command)
      break
    case 'text':
      findings.add({ ...command, argv: [], globs: [] })
      scope.text(unwrapped.text, { ...deeper(scope), elevated: command.elevated })
      break
    case 'command': {
      const taken = command.argv.length - unwrapped.argv.length
      const inner = {
        ...command,
        argv: unwrapped.argv,
        globs: command.globs.flatMap((at) => (at < taken ? [] : [at - taken])),
        assignments: [...command.assignments, ...unwrapped.assignments],
        elevated: command.elevated || unwrapped.elevated,
      }
      startCommand(inner, text, deeper(scope))
      break
    }
    case 'others':
      // A name that a pattern stands for may be an option.
      findings.add({ ...command, argv: unwrapped.own, globs: [], openEnded: command.globs.length > 0 })
      for (const argv of unwrapped.argvs)
        startCommand({ ...command, argv, globs: [], redirects: [], openEnded: true }, text, deeper(scope))
  }
}

function declare(command: Found, text: string, { findings }: Scope): void {
  const [, ...args] = command.argv
  if (args.some((arg) => !/^(-[gxrpaA]+|[A-Za-z_]\w*)$/.test(arg)))
    findings.note(text, 'declares something that is not a plain variable')
  const names = args.filter((arg) => !arg.startsWith('-')).map((name) => `${name}=`)
  findings.add({ ...command, argv: [], globs: [], assignments: [...command.assignments, ...names] })
}

function changeDirectory(args: readonly string[], text: string, { findings, repeated }: Scope): void {
  if (repeated) findings.note(text, 'changes the directory in a loop or a function')
  const [target = '~', ...more] = args.filter((arg) => !/^-[LPe@]+$|^--$/.test(arg))
  const isPlain = more.length === 0 && !/^[-+]|^~[^/]|[*?[]/.test(target)
  findings.goTo(isPlain ? target : null)
}
