/** `reprise stats`: totals over all runs, and the savings of resuming. */
import type { Command } from 'commander'
import { reasonText } from '../../contract/start-text.ts'
import type { Stats } from '../../contract/stats.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { connect } from '../daemon/connect.ts'
import { simulatedCosts } from '../run/simulated-costs.ts'
import { count, formatCost, formatTokens } from '../terminal/amounts.ts'

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows totals over all runs, and the savings of resuming sessions.')
    .addHelpText('after', '\nExamples:\n  reprise stats\n  reprise stats --json | jq .cache.savedUsd')
    .action(() => showStats(context))
}

async function showStats(context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const stats = await client.stats()
  if (context.json) return printJson(context, stats)
  for (const line of statsLines(stats, await simulatedCosts(client))) await printLine(context, line)
}

/** `simulated` says why the costs are invented; null if they are not. */
export function statsLines(stats: Stats, simulated: string | null = null): string[] {
  const { usage, freshReasons, promptTokensSent: sent, promptTokensOfTranscripts: whole } = stats
  const uncached = usage.inputTokens + usage.cacheWriteTokens
  const fresh = Object.values(freshReasons).reduce((sum, times) => sum + times, 0)
  const reasons =
    fresh > 0 ? ` (${tally(freshReasons, (reason) => reasonText(reason) ?? 'with nothing to resume')})` : ''
  const fields: [string, string][] = [
    [
      'runs',
      `${stats.runs}, in ${count(stats.attempts, 'attempt')}; ${count(stats.conversations, 'conversation')}`,
    ],
    ['outcomes', tally(stats.outcomes) || '–'],
    ['sessions', `${stats.resumedRuns} resumed, ${fresh} new${reasons}`],
    [
      'tokens in',
      `${formatTokens(uncached)} uncached, ${formatTokens(usage.cacheReadTokens)} cached (${share(usage.cacheReadTokens, uncached + usage.cacheReadTokens)} from the cache)`,
    ],
    ['tokens out', formatTokens(usage.outputTokens)],
    ['cost', `${formatCost(stats.costUsd)}${simulated === null ? '' : ` (${simulated})`}`],
    [
      'prompts',
      `~${formatTokens(sent)} tokens sent; ~${formatTokens(whole)} if each turn were sent the whole history`,
    ],
    ['not sent', notSent(stats.promptTokensSaved, whole)],
    ...cacheFields(stats.cache),
  ]
  return fields.map(([name, value]) => `${name.padEnd(10)}  ${value}`)
}

/** After an interruption the agent is told what happened, which may be more than short histories would have been. */
const notSent = (saved: number, whole: number) =>
  saved < 0 ? 'nothing' : `~${formatTokens(saved)} tokens of text (${share(saved, whole)})`

/** How resumed turns used the prompt cache, and what resuming saved or cost. */
function cacheFields(cache: Stats['cache']): [string, string][] {
  if (cache.resumedTurns === 0) return []
  const { expectedReadTokens: expected, readTokens: read, savedUsd } = cache
  const rewrites = Object.entries(cache.rewrites)
    .sort(([, a], [, b]) => b.costUsd - a.costUsd)
    .map(
      ([cause, { turns, tokens, costUsd }]) =>
        `${count(turns, 'turn')} ${formatTokens(tokens)} (${cause}, +${formatCost(costUsd)})`,
    )
  return [
    [
      'cache',
      `${count(cache.resumedTurns, 'resumed turn')} read ${formatTokens(read)} of ${formatTokens(expected)} expected tokens`,
    ],
    ...(rewrites.length > 0 ? [['rewritten', rewrites.join(', ')] as [string, string]] : []),
    [
      'saved',
      savedUsd < 0
        ? `nothing: resuming cost about ${formatCost(-savedUsd)} more than new sessions with the history`
        : `about ${formatCost(savedUsd)}, compared with new sessions that are sent the history`,
    ],
  ]
}

const share = (part: number, whole: number) => `${whole > 0 ? Math.round((part / whole) * 100) : 0} %`

/** Most frequent first. */
const tally = (counts: Readonly<Record<string, number>>, nameOf = (name: string) => name) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `${times} ${nameOf(name)}`)
    .join(', ')
