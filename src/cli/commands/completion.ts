/** `reprise completion`: prints the script of a shell, and answers it. */
import type { Command } from 'commander'
import { type CliContext, printJson } from '../base/context.ts'
import { harmless, print } from '../base/output.ts'
import type { TreeFor } from '../base/subcommand.ts'
import { complete } from '../completion/candidates.ts'
import { knownValues } from '../completion/known-values.ts'
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts'
import { findRunningClient } from '../daemon/running-client.ts'

const DAEMON_TIMEOUT_MS = 2000

const EXAMPLES = `
Completes commands, options and their values; ids, names of watches and agents if the daemon runs.

Examples:
  bash  reprise completion bash > ~/.local/share/bash-completion/completions/reprise
  zsh   reprise completion zsh > "\${fpath[1]}/_reprise"
  fish  reprise completion fish > ~/.config/fish/completions/reprise.fish

To try it in this shell only: source <(reprise completion bash)`

export function define(command: Command, context: CliContext, treeFor: TreeFor): void {
  command
    .description('Prints a script that completes commands, options and ids in your shell.')
    .addHelpText('after', EXAMPLES)
  for (const shell of SHELLS) {
    command
      .command(shell)
      .summary(`print the script for ${shell}`)
      .action(() => printScript(shell, context))
  }
  command
    .command('words', { hidden: true })
    .description('Prints what can stand at the place of the last word. The scripts call this.')
    .argument('[words...]')
    .action((words: string[]) => printCandidates(words, context, treeFor))
}

function printScript(shell: Shell, context: CliContext): Promise<void> {
  if (context.json) return printJson(context, { shell, script: SCRIPTS[shell] })
  return print(context.stdout, SCRIPTS[shell])
}

async function printCandidates(
  words: readonly string[],
  context: CliContext,
  treeFor: TreeFor,
): Promise<void> {
  const { candidates, ask } = complete(await treeFor(words.slice(0, -1)), words)
  const client = () => findRunningClient(context, DAEMON_TIMEOUT_MS)
  const all = [...candidates, ...(await knownValues(ask, words.at(-1) ?? '', client))]
  if (context.json) return printJson(context, { candidates: all })
  // The shell shows descriptions, in which there may be text of agents.
  const lines = all.map(({ value, description }) => `${value}\t${harmless(description)}\n`)
  await print(context.stdout, lines.join(''))
}
