/** `reprise init`: writes examples that work, to begin with. */
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../../contract/quantity.ts'
import { type CliContext, printJson } from '../base/context.ts'
import { refuseWords } from '../base/subcommand.ts'
import { type InitWatchOptions, initWatch } from '../init/watch.ts'
import { printTable } from '../terminal/print-page.ts'
import { newName } from '../watches/options.ts'

const EXAMPLES = `
Examples:
  reprise init                          what it can write
  reprise init watch                    a watch named media, for this directory
  reprise init watch web --url http://127.0.0.1:8080/health --container web --every 10m
  reprise init watch web --dir /srv/web the agent works there, for instance beside a compose.yaml

Watches and the prompts of tiers are read only from the home ($REPRISE_HOME, default ~/.reprise), never from a
directory that somebody else may have written. So that is where they are put. A config.yaml that is there already is
not touched: what is to be added to it is printed, and the exit code is 1. --force adds it, and keeps a copy of what
was there.`

const KINDS = [
  { name: 'watch', writes: 'a watch of an HTTP endpoint and a container, three tiers, and their prompts' },
] as const

export function define(command: Command, context: CliContext): void {
  command.description('Writes an example that works, to begin with.').addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('say what it can write')
    .allowExcessArguments(true)
    .action((_, self: Command) => {
      refuseWords(self)
      if (context.json) return printJson(context, { items: KINDS })
      const rows = KINDS.map(({ name, writes }) => [`reprise init ${name}`, writes])
      return printTable(context, { headings: ['COMMAND', 'WRITES'], rows })
    })
  command
    .command('watch')
    .summary('write a watch with three tiers and their prompts')
    .argument('[name]', 'what to call it', newName, 'media')
    .option('--dir <dir>', 'where the agent works (default: this directory)')
    .option('--url <url>', 'the endpoint to check', httpUrl, 'http://127.0.0.1:8096')
    .option('--container <name>', 'the container behind it', containerName, 'jellyfin')
    .option('--every <duration>', 'how often', every, '30m')
    .option('--force', 'add it to a config.yaml that is there already, and replace what is of the same name')
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Omit<InitWatchOptions, 'name'>) =>
      initWatch({ name, ...options }, context),
    )
}

function httpUrl(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
  if (!isHttp || /\s/.test(text)) throw new InvalidArgumentError('Expected an http or https address.')
  return text
}

function containerName(text: string): string {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(text)) throw new InvalidArgumentError('Expected the name of a container.')
  return text
}

/** Kept as it was written: that is how it is put into the file. */
function every(text: string): string {
  const ms = parseDurationMs(text)
  if (ms === undefined || ms < 10_000 || ms > 366 * 86_400_000)
    throw new InvalidArgumentError('Expected a duration such as 10m or 2h, from 10s to 366d.')
  return text
}
