/** `reprise config`: shows and checks the configuration, and prints its JSON Schema. Does not need the daemon. */
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { loadConfig } from '../../config/load.ts'
import { presentConfig } from '../../config/present.ts'
import { configError } from '../../config/problem.ts'
import { findProjectFile } from '../../config/project.ts'
import { configJsonSchema } from '../../config/schema.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { print } from '../base/output.ts'
import { refuseWords } from '../base/subcommand.ts'
import { homeOf } from '../daemon/link.ts'

const EXAMPLES = `
Settings are read from config.yaml in the home ($REPRISE_HOME, default ~/.reprise), then from environment variables. A
running daemon uses the settings that it was started with. reprise.yaml in a work directory can make the runs there
stricter, once the directory is trusted (reprise trust).

Examples:
  reprise config                          all settings, with defaults
  reprise config validate                 check the files; lists every problem
  reprise config schema > schema.json     JSON Schema, for editors`

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows and checks the configuration, and prints its JSON Schema.')
    .addHelpText('after', EXAMPLES)
  command
    .command('show', { isDefault: true })
    .summary('show all settings with their values, as YAML; secrets are hidden')
    .allowExcessArguments(true)
    .action((_, self: Command) => {
      refuseWords(self)
      return show(context)
    })
  command
    .command('validate')
    .summary('check the configuration; exits with 1 if it is not valid')
    .action(() => validate(context))
  command
    .command('schema')
    .summary('print the JSON Schema of config.yaml and reprise.yaml')
    .action(() => print(context.stdout, `${JSON.stringify(configJsonSchema(), null, 2)}\n`))
}

const load = (context: CliContext) =>
  loadConfig({ home: homeOf(context), cwd: context.cwd, env: context.env })

async function show(context: CliContext): Promise<void> {
  const { config, sources } = load(context)
  const settings = presentConfig(config)
  if (context.json) return printJson(context, { settings, sources })
  notify(context, sources.length === 0 ? 'Defaults only.' : `From ${sources.join(', ')}, and defaults.`)
  await print(context.stdout, stringify(settings))
}

async function validate(context: CliContext): Promise<void> {
  const { sources } = load(context)
  const project = findProjectFile(context.cwd)
  if (project && project.problems.length > 0) throw configError(project.problems)
  if (project) sources.push(project.path)
  if (context.json) return printJson(context, { valid: true, sources })
  const from = sources.length === 0 ? 'defaults only' : sources.join(', ')
  await printLine(context, `The configuration is valid (${from}).`)
}
