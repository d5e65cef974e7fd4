/** `reprise sessions`: each subcommand is a file of src/cli/sessions. */
import type { Command } from 'commander'
import type { CliContext } from '../base/context.ts'
import { defineAdopt } from '../sessions/adopt.ts'
import { defineList } from '../sessions/list.ts'
import { defineRemove } from '../sessions/remove.ts'
import { defineShow } from '../sessions/show.ts'

const EXAMPLES = `
Examples:
  reprise sessions
  reprise sessions --status paused
  reprise sessions show ses_…
  reprise sessions show 3f0c1e52-…           by the agent's own id
  reprise sessions rm ses_…                  delete one, with the agent's files
  reprise sessions adopt                     list sessions that were made without Reprise
  reprise run --session ses_… "Continue"     continue one`

const SUBCOMMANDS = [defineList, defineShow, defineAdopt, defineRemove]

export function define(command: Command, context: CliContext): void {
  command
    .description("Lists the agents' sessions, newest first, or does something with one of them.")
    .addHelpText('after', EXAMPLES)
  for (const defineSubcommand of SUBCOMMANDS) defineSubcommand(command, context)
}
