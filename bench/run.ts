/**
 * `npm run bench -- [--short] [--only NAME] [--write]`: ratios, both sides interleaved in one run. `--short` only shows
 * that the benchmarks work. `--write` writes the figures to bench/RESULTS.md, including missed goals.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark } from './benchmark.ts'
import { adopt } from './cases/adopt.ts'
import { broker } from './cases/broker.ts'
import { chains } from './cases/chains.ts'
import { chat } from './cases/chat.ts'
import { commands } from './cases/commands.ts'
import { dashboard } from './cases/dashboard.ts'
import { dashboardLive } from './cases/dashboard-live.ts'
import { escalation } from './cases/escalation.ts'
import { flushes } from './cases/flushes.ts'
import { history } from './cases/history.ts'
import { inProcess } from './cases/in-process.ts'
import { ingest } from './cases/ingest.ts'
import { instantTurns } from './cases/instant-turns.ts'
import { kept } from './cases/kept.ts'
import { mirror } from './cases/mirror.ts'
import { parser } from './cases/parser.ts'
import { policy } from './cases/policy.ts'
import { provider } from './cases/provider.ts'
import { queue } from './cases/queue.ts'
import { recovery } from './cases/recovery.ts'
import { replay } from './cases/replay.ts'
import { sandbox } from './cases/sandbox.ts'
import { slowReader } from './cases/slow-reader.ts'
import { start } from './cases/start.ts'
import { transfer } from './cases/transfer.ts'
import { turn } from './cases/turn.ts'
import { waiting } from './cases/waiting.ts'
import { webhook } from './cases/webhook.ts'
import { describeMachine } from './machine.ts'
import { type Measured, toMarkdown, toText } from './report.ts'

const BENCHMARKS: readonly Benchmark[] = [
  turn,
  instantTurns,
  commands,
  inProcess,
  provider,
  parser,
  ingest,
  start,
  slowReader,
  replay,
  flushes,
  chat,
  queue,
  recovery,
  history,
  policy,
  broker,
  sandbox,
  escalation,
  chains,
  waiting,
  webhook,
  transfer,
  mirror,
  kept,
  adopt,
  dashboard,
  dashboardLive,
]

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

const chosen = BENCHMARKS.filter(({ name }) => options.only === undefined || name === options.only)
if (chosen.length === 0 || (options.write && (options.short || options.only))) {
  const names = BENCHMARKS.map(({ name }) => name).join(', ')
  process.stderr.write(
    `--only takes one of: ${names}. --write needs the full run, without --short and --only.\n`,
  )
  process.exit(2)
}

const machine = describeMachine()
process.stdout.write(`${machine.join(' · ')}\n`)
const measured: Measured[] = []
for (const benchmark of chosen) {
  const figures = await benchmark.run({ short: options.short })
  measured.push({ benchmark, figures })
  process.stdout.write(`\n${toText({ benchmark, figures }, options.short)}`)
}
if (options.write) {
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), toMarkdown(measured, machine, new Date()))
}
