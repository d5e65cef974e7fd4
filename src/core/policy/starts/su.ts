/** `su` and `runuser`: the shell of another user, which is given a text, a script with its arguments, or what it reads. */
import { literal } from '../command.ts'
import { givenOptions, mayBeOption, optionList } from '../given-options.ts'
import { loginScope } from './directory.ts'
import type { Starting } from './starting.ts'

const OPTIONS = optionList(
  '-flmpPThV -c: -s: -g: -G: -w: -u: --fast --login --preserve-environment --pty --no-pty --help --version',
  '--command= --session-command= --shell= --group= --supp-group= --whitelist-environment= --user=',
)

/** Says whether it starts a shell: `runuser -u` starts a program. */
export function startShellOfUser(starting: Starting): boolean {
  const { args, scope, walker, program } = starting
  const given = givenOptions(args, OPTIONS, { trusting: true })
  if (!given) {
    walker.giveUp(`${program} is given an option that is not known`)
    starting.done()
    return true
  }
  const { options, operands } = given
  const valueBehind = (names: RegExp) => options.findLast(({ name }) => names.test(name))?.value
  if (program === 'runuser' && valueBehind(/^(-u|--user)$/)) return false
  starting.done()
  if (args.some((arg) => arg.unknown === 'many' || mayBeOption(arg)))
    starting.opaque('may be given a text for a shell')
  const dash = operands[0]?.text === '-'
  const login = dash || options.some(({ name }) => /^(-l|--login)$/.test(name))
  const text = valueBehind(/^(-c|--(session-)?command)$/)
  // What stands behind the user is for the shell.
  const words = operands.slice(dash ? 2 : 1)
  starting.next(
    [valueBehind(/^(-s|--shell)$/) ?? literal('sh'), ...(text ? [literal('-c'), text] : []), ...words],
    { cleared: true },
    login ? loginScope(scope, walker) : scope,
  )
  return true
}
