/** From the command line to an exit code. */
import { Command, CommanderError } from 'commander'
import type { CliContext } from './base/context.ts'
import { EXIT } from './base/exit-code.ts'
import { COMMANDS } from './command-table.ts'

const EXAMPLES = `
Examples:
  reprise run "Fix the failing test"       give a prompt to the default agent, here
  reprise jobs                             how that stands, also when nobody watched
  reprise init watch                       an example of a watch that works, with its prompts
  reprise chat                             talk with it, here; \`reprise chat last\` goes on
  reprise runs                             what ran, how it ended, what it cost
  reprise run --session ses_… "And now?"   go on where a run ended
  reprise doctor                           when something does not work

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 daemon not reachable, 4 agent not available, 130 interrupted.
State is in $REPRISE_HOME (default ~/.reprise).`

export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
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

/** Loaded only when needed: it brings the schemas along, and help should be quick. */
async function report(error: unknown, context: CliContext): Promise<number> {
  const { reportError } = await import('./daemon/report-error.ts')
  return reportError(error, context)
}

async function buildProgram(argv: readonly string[], context: CliContext): Promise<Command> {
  const program = new Command('reprise')
    .description('Runs coding agents as supervised processes and makes sure their work goes on.')
    .option('--json', 'print one JSON document or NDJSON, and nothing else, on stdout')
    .version(context.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      // Errors are thrown too, and reported in one place.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', EXAMPLES)
  const asked = askedCommand(argv)
  for (const { name, summary, load } of COMMANDS) {
    const command = program.command(name).summary(summary).allowExcessArguments(false)
    if (name === asked) (await load()).define(command, context)
  }
  return program
}

/**
 * Whether the words it begins with name a command that does not exist. Asked for help on one, commander prints that of
 * the commands around it, as if all were well: such a line is read as if help had not been asked for.
 */
function namesUnknown(program: Command, argv: readonly string[]): boolean {
  let at = program
  for (const word of argv.filter((word, index) => index > 0 || word !== 'help')) {
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

const isNotHelp = (word: string, index: number) =>
  word !== '--help' && word !== '-h' && !(word === 'help' && index === 0)

/** No option before the command takes a value, so the first word that is not an option is the command. */
function askedCommand(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'))
  return words[0] === 'help' ? words[1] : words[0]
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
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const hint =
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? '`reprise --help` and `reprise COMMAND --help` say more.'
  return report(usageError(message, hint), context)
}
