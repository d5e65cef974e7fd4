/**
 * Whether a command only looks: it changes no file, starts nothing and sends nothing but a question. Used where no sandbox
 * holds what an agent can touch, so it is strict.
 */
import { LOOKING_PROGRAMS, NO_DANGEROUS_OPTION } from './looking-programs.ts'
import { baseName, type PlainCommand } from './reading.ts'

/** Where programs are that bear the name they are known by. */
const USUAL_PLACE = /^(\/usr(\/local)?)?\/s?bin\/[^/]+$/

export function isUsualProgram(name: string): boolean {
  return !name.includes('/') || USUAL_PLACE.test(name)
}

export function onlyLooks({ argv, globs, elevated, openEnded }: PlainCommand): boolean {
  const [path, ...args] = argv
  if (path === undefined) return true
  if (elevated || !isUsualProgram(path)) return false
  const name = baseName(path)
  if (NO_DANGEROUS_OPTION.has(name)) return true
  // What is given later, or the name of a file, may be an option.
  if (openEnded || globs.some((at) => /^[*?[]/.test(argv[at] ?? ''))) return false
  if (args.length === 1 && (args[0] === '--version' || args[0] === '--help')) return true
  return LOOKING_PROGRAMS.get(name)?.(args) ?? false
}

/** Variables that change only how something is shown. */
const SHOWING =
  /^(LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|DEBIAN_FRONTEND|GIT_OPTIONAL_LOCKS|IFS)=/
const NO_PAGER = /^(GIT_|SYSTEMD_|KUBECTL_)?PAGER=(cat)?$/
/** zsh reads these as lists of directories. */
const SEARCHED = /^(path|cdpath|fpath|manpath|module_path)=/

/** The assignment may change what is started, or what that does. */
export function isSteering(assignment: string): boolean {
  if (SHOWING.test(assignment) || NO_PAGER.test(assignment)) return false
  return SEARCHED.test(assignment) || !/^[a-z_][a-z0-9_]*=/.test(assignment)
}
