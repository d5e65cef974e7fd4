/** `reprise attach`: shows what has happened so far, then what happens, and lets a person answer. */
import type { Command } from 'commander'
import { attachTo } from '../attach/attach.ts'
import type { CliContext } from '../base/context.ts'
import { anyIdArgument } from '../base/id-argument.ts'
import { connectLastingly } from '../daemon/connect.ts'

const EXAMPLES = `
Shows everything from the beginning as text, then what happens now. Questions, permission requests and approvals are
answered in place. Ctrl-C leaves, and the work continues; Ctrl-X cancels it.

Examples:
  reprise attach                 the newest job, conversation, cycle or run
  reprise attach job_K3F9QZ      a job: all its runs
  reprise attach run_…           a run, or all tiers of an investigation
  reprise attach cnv_…           a conversation: its messages, then the answer that is being written
  reprise attach cyc_…           a cycle of a watch
  reprise attach media           the open or newest cycle of the watch "media"
  reprise attach --json last     its events as NDJSON`

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows a job, run, conversation, investigation or cycle from its beginning, then live.')
    .argument(
      '[id]',
      'what to show: an id, a part of one, the name of a watch, or last',
      anyIdArgument,
      'last',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (text: string) => attachTo(await connectLastingly(context), text, context))
}
