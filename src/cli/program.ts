/** Parses the command line, runs the command and returns the exit code. */
import { Command, CommanderError } from 'commander'
import type { CliContext } from './base/context.ts'
import { EXIT } from './base/exit-code.ts'
import { kindTakenBy } from './base/id-argument.ts'
import { write } from './base/output.ts'
import { COMMANDS } from './command-table.ts'

const EXAMPLES = `
Examples:
  reprise chat                             chat with the default agent about this directory
  reprise chat last                        continue the newest conversation
  reprise run "Fix the failing test"       start a job in this directory and follow it
  reprise jobs                             list jobs and their states
  reprise runs                             list runs with outcome and cost
  reprise run --session ses_… "And now?"   continue the session of an earlier run
  reprise init watch                       write a working example of a watch, with its prompts
  reprise doctor                           find out why something does not work

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 daemon not reachable, 4 agent not available, 130 interrupted.
State is in $REPRISE_HOME (default ~/.reprise).`

export async function runCli(given: readonly string[], context: CliContext): Promise<number> {
  const argv = withoutHelpCommand(given)
  context.json = wantsJson(argv)
  try {
    const program = await buildProgram(argv, context)
    await program.parseAsync(namesUnknown(program, argv) ? argv.filter(isNotHelp) : argv, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return endParsing(error, context)
    return report(error, context)
  }
}

/** Loaded only when needed: it imports the schemas, and help should be quick. */
async function report(error: unknown, context: CliContext): Promise<number> {
  const { reportError } = await import('./daemon/report-error.ts')
  return reportError(error, context)
}

async function buildProgram(argv: readonly string[], context: CliContext): Promise<Command> {
  const program = new Command('reprise')
    .description('Runs coding agents as supervised processes and continues their work after interruptions.')
    .option('--json', 'print one JSON document or NDJSON, and nothing else, on stdout')
    .version(context.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => write(context.stdout, text),
      writeErr: (text) => write(context.stderr, text),
      // Errors are thrown too, and reported in one place.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', EXAMPLES)
    .hook('preAction', async (_, action) => {
      const takesIds = [...action.registeredArguments, ...action.options].some(
        (one) => kindTakenBy(one) !== null,
      )
      if (takesIds) await (await import('./daemon/resolve-references.ts')).resolveReferences(action, context)
    })
  const asked = askedCommand(argv)
  const treeFor = (words: readonly string[]) => buildProgram(words, context)
  for (const { name, summary, load } of COMMANDS) {
    const command = program.command(name).summary(summary).allowExcessArguments(false)
    if (name === asked) (await load()).define(command, context, treeFor)
  }
  return program
}

/**
 * Whether the first words name a command that does not exist. When asked for help on an unknown command, commander
 * prints the help of its parent and exits with 0. Such a line is parsed without the request for help, so that it fails.
 */
function namesUnknown(program: Command, argv: readonly string[]): boolean {
  let at = program
  for (const word of argv) {
    if (word.startsWith('-')) {
      if (at === program) continue
      return false
    }
    const next = at.commands.find((command) => command.name() === word)
    if (!next) return at.commands.length > 0
    at = next
  }
  return false
}

const isNotHelp = (word: string) => word !== '--help' && word !== '-h'

/** `help watch add` means `watch add --help`; commander's own `help` knows only the first level. */
function withoutHelpCommand(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => !word.startsWith('-'))
  if (argv[at] !== 'help') return argv
  const [before, after] = [argv.slice(0, at), argv.slice(at + 1)]
  return [...before, ...after, '--help']
}

/** No option before the command takes a value, so the first word that is not an option is the command. */
function askedCommand(argv: readonly string[]): string | undefined {
  return argv.find((word) => !word.startsWith('-'))
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? undefined : end).includes('--json')
}

async function endParsing(error: CommanderError, context: CliContext): Promise<number> {
  if (error.exitCode === 0) return EXIT.done
  // Help was printed because no command was given.
  if (error.code === 'commander.help') return EXIT.usage
  const { usageError } = await import('./base/usage-error.ts')
  const [message = '', suggestion] = naming(error.message.replace(/^error: /, '')).split('\n')
  const hint = suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'See `reprise --help` and `reprise COMMAND --help`.'
  return report(usageError(message, hint), context)
}

/** Names an option as it is typed: `--every 5s: must be …` instead of `option '--every <duration>' argument '5s' …`. */
function naming(message: string): string {
  return message
    .replace(
      /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^']*)' is invalid\. /,
      (_, flag: string, value: string) => `${flag} ${value}: `,
    )
    .replace(
      /^command-argument value '([^']*)' is invalid for argument '([^']*)'\. /,
      (_, value: string, name: string) => `${name} ${JSON.stringify(value)}: `,
    )
}
