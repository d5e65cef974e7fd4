/** `reprise sessions`: each subcommand is a file of src/cli/sessions. */
import type { Command } from 'commander'
import type { CliContext } from '../base/context.ts'
import { defineAdopt } from '../sessions/adopt.ts'
import { defineExport } from '../sessions/export.ts'
import { defineFork } from '../sessions/fork.ts'
import { defineImport } from '../sessions/import.ts'
import { defineList } from '../sessions/list.ts'
import { defineMove } from '../sessions/move.ts'
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
  reprise run --session ses_… "Continue"     continue one
  reprise sessions export ses_… -o work.gz   then elsewhere: reprise sessions import work.gz --dir .
  reprise sessions fork ses_… --at run_…     branch off after that run
  reprise sessions move ses_… --dir ../new   after its directory was renamed or moved`

const SUBCOMMANDS = [
  defineList,
  defineShow,
  defineAdopt,
  defineExport,
  defineImport,
  defineFork,
  defineMove,
  defineRemove,
]

export function define(command: Command, context: CliContext): void {
  command
    .description("Lists the agents' sessions, newest first, or does something with one of them.")
    .addHelpText('after', EXAMPLES)
  for (const defineSubcommand of SUBCOMMANDS) defineSubcommand(command, context)
}
