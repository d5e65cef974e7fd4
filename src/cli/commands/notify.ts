/** `reprise notify test`: sends a test notification and says for each target whether it arrived. */
import type { Command } from 'commander'
import type { NotificationTest } from '../../contract/notification.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { connectLastingly } from '../daemon/connect.ts'
import { styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
The targets are those of \`notify\` in the configuration of the daemon. A test is sent once and not tried again.

Examples:
  reprise notify test               all targets
  reprise notify test chat phone    these two`

export function define(command: Command, context: CliContext): void {
  command.description('Tests the targets of notifications.').addHelpText('after', EXAMPLES)
  command
    .command('test')
    .summary('send a test notification')
    .description('Sends a test notification, and says for each target whether it was delivered.')
    .argument('[target...]', 'names of targets (default: all)')
    .action((targets: string[]) => test(targets, context))
}

async function test(targets: string[], context: CliContext): Promise<void> {
  const ask = await connectLastingly(context)
  const tests = await ask((client) => client.testNotifications(targets.length === 0 ? undefined : targets))
  if (tests.some(({ delivered }) => !delivered) || tests.length === 0) context.exitCode = EXIT.failed
  if (context.json) return printJson(context, tests)
  if (tests.length === 0)
    return notify(
      context,
      'No targets are configured. `notify` in the configuration defines them; see reprise config.',
    )
  const { safe } = styleFor(context.stdout, context.env)
  for (const line of tests.map(describe)) await printLine(context, safe(line))
}

const describe = ({ target, kind, on, delivered, reason }: NotificationTest) =>
  delivered
    ? `${target} (${kind}): delivered. It is notified about: ${on.join(', ')}.`
    : `${target} (${kind}): not delivered: ${reason}`
