/** `reprise init`: writes working examples. */
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { durationBetween } from '../base/arguments.ts'
import { type CliContext, printJson } from '../base/context.ts'
import { refuseWords } from '../base/subcommand.ts'
import { type InitWatchOptions, initWatch } from '../init/watch.ts'
import { printTable } from '../terminal/print-page.ts'
import { newName } from '../watches/options.ts'

const EXAMPLES = `
Examples:
  reprise init                          list the examples
  reprise init watch                    a watch named media, for this directory
  reprise init watch web --url http://127.0.0.1:8080/health --container web --every 10m
  reprise init watch web --dir /srv/web with this work directory, for example one with a compose.yaml

Watches and the prompts of tiers are read only from the home ($REPRISE_HOME, default ~/.reprise), never from a work
directory that somebody else may have written, so the example is written there. An existing config.yaml is not changed:
the settings are printed instead, and the exit code is 1. --force adds them to the file and keeps a copy of the old one.`

const KINDS = [
  { name: 'watch', writes: 'a watch of an HTTP endpoint and a container, three tiers, and their prompts' },
] as const

export function define(command: Command, context: CliContext): void {
  command.description('Writes a working example configuration.').addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('list the examples')
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
    .argument('[name]', 'name of the watch', newName, 'media')
    .option('--dir <dir>', 'work directory of the agent (default: the current one)')
    .option('--url <url>', 'the endpoint to check', httpUrl, 'http://127.0.0.1:8096')
    .option('--container <name>', 'the container behind it', containerName, 'jellyfin')
    .option('--every <duration>', 'interval', every, '30m')
    .option('--force', 'add it to an existing config.yaml, and replace settings of the same name')
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Omit<InitWatchOptions, 'name'>) =>
      initWatch({ name, ...options }, context),
    )
}

function httpUrl(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
  if (!isHttp || /\s/.test(text)) throw new InvalidArgumentError('expected an http or https address')
  return text
}

function containerName(text: string): string {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(text)) throw new InvalidArgumentError('expected the name of a container')
  return text
}

const interval = durationBetween('10s', '366d')

/** Returned as it was typed, because it is written into the file. */
function every(text: string): string {
  interval(text)
  return text
}
