/** `reprise watch`: checks on a schedule, and their results. */
import type { Command } from 'commander'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { readInstructions } from '../base/instructions-file.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { refuseWords } from '../base/subcommand.ts'
import { connect, connectLastingly } from '../daemon/connect.ts'
import { addPageOptions, type PageRequest, pageRequest } from '../list/list-command.ts'
import { printPage, printTable } from '../terminal/print-page.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { followCycle } from '../watches/follow-cycle.ts'
import {
  addWatchOptions,
  newName,
  toChange,
  toWatch,
  type WatchOptions,
  watchArgument,
} from '../watches/options.ts'
import { readPayload } from '../watches/payload-input.ts'
import { cycleRows, describeCycle, describeWatch, nextOf, resultOf, watchRows } from '../watches/text.ts'

const EXAMPLES = `
A watch checks something on a schedule. Each check is a cycle: a cheap model investigates first, and if action is needed
the next tier takes over, as far as the rules allow. Watches can also be defined in the configuration (watches).

Examples:
  reprise watch                                         list all
  reprise watch add media --every 30m "Check jellyfin at http://127.0.0.1:8096"
  reprise watch add backup --cron "0 7 * * *" --time-zone Europe/Berlin --max-tier 1 "Is last night's backup complete?"
  reprise watch edit media --every 5m                   change it; what is not given stays
  reprise watch show media                              its schedule, and its last cycles
  reprise watch cycles media                            all its cycles: outcome, tier, cost
  reprise watch cycle cyc_…                             one cycle with its runs and follow-ups
  reprise watch trigger media --follow                  start a cycle now and follow it
  reprise watch trigger media --reason "disk alert" --payload alert.json
  reprise watch pause media; reprise watch resume media
  reprise watch cancel cyc_…                            cancel a cycle
  reprise watch rm media

\`trigger --follow\` exits with 0 if the cycle ended healthy or fixed, 1 if a person should look.`

export function define(command: Command, context: CliContext): void {
  const name = ['<watch>', 'name of a watch, or its id like wch_01J…', watchArgument] as const
  const cycleId = ['<id>', 'id of a cycle, like cyc_01J…', idArgument('cyc')] as const
  command.description('Lists watches, or does something with one of them.').addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('list watches')
    .allowExcessArguments(true)
    .action((_, self: Command) => list(self, context))
  addWatchOptions(
    command
      .command('add')
      .summary('check something on a schedule')
      .argument('<name>', 'name of the watch', newName)
      .argument('[prompt...]', 'what to check; `-` or nothing reads it from stdin'),
  ).action((name: string, words: string[], options: WatchOptions) => add(name, words, options, context))
  addWatchOptions(
    command
      .command('edit')
      .summary('change a watch; what is not given stays')
      .argument(...name)
      .argument('[prompt...]', 'what to check from now on; `-` reads it from stdin'),
  )
    .option('--no-dry-run', 'make changes again')
    .action((watch: string, words: string[], options: WatchOptions) => edit(watch, words, options, context))
  command
    .command('show')
    .summary('show one watch and its last cycles')
    .argument(...name)
    .action((watch: string) => show(watch, context))
  addPageOptions(
    command
      .command('cycles')
      .summary('list the cycles of a watch, newest first')
      .argument(...name),
  ).action((watch: string, options: Partial<PageRequest>) => listCycles(watch, options, context))
  command
    .command('cycle')
    .summary('show one cycle with its runs and follow-ups')
    .argument(...cycleId)
    .action((id: string) => showCycle(id, context))
  command
    .command('trigger')
    .summary('start a cycle now, or after the open one has ended')
    .argument(...name)
    .option('--reason <text>', 'a reason, which the agent is told')
    .option('--payload <file>', 'file with JSON for the agent; `-` reads stdin')
    .option('-f, --follow', 'follow the runs of the cycle to its end')
    .action((watch: string, options: TriggerOptions) => trigger(watch, options, context))
  for (const action of ['pause', 'resume'] as const) {
    command
      .command(action)
      .summary(action === 'pause' ? 'start no further cycles on schedule' : 'start cycles on schedule again')
      .argument(...name)
      .action((watch: string) => change(watch, action, context))
  }
  command
    .command('cancel')
    .summary('cancel a cycle with its runs and follow-ups')
    .argument(...cycleId)
    .action((id: string) => cancel(id, context))
  command
    .command('rm')
    .summary('remove a watch; an open cycle is cancelled, the records of its cycles stay')
    .argument(...name)
    .action((watch: string) => remove(watch, context))
}

const NONE = 'No watches yet. Create one with: reprise watch add NAME --every 30m "…", or: reprise init watch'

async function list(self: Command, context: CliContext): Promise<void> {
  refuseWords(self)
  const items = await (await connect(context)).client.listWatches()
  await printPage(context, { items, nextCursor: null }, { none: NONE, table: watchRows })
}

async function add(name: string, words: string[], options: WatchOptions, context: CliContext): Promise<void> {
  const example = `reprise watch add ${name} --every 30m "Check …"`
  const prompt = await readPrompt(words, context, example)
  const request = toWatch({ name, prompt }, options, await placeOf(options, context))
  const watch = await (await connect(context)).client.createWatch(request)
  if (context.json) return printJson(context, watch)
  await printLine(
    context,
    `added ${watch.name}: ${watch.schedule ?? 'runs only when triggered'}; next cycle: ${nextOf(watch, new Date())}`,
  )
  notify(context, `Start a cycle now with: reprise watch trigger --follow ${watch.name}`)
}

async function placeOf({ environment: file }: WatchOptions, context: CliContext) {
  const environment = file === undefined ? undefined : await readInstructions(file, context, 'environment')
  return { cwd: context.cwd, environment }
}

async function edit(ref: string, words: string[], options: WatchOptions, context: CliContext): Promise<void> {
  const prompt = words.length === 0 ? undefined : await readPrompt(words, context)
  const change = toChange(prompt, options, await placeOf(options, context))
  const watch = await (await connect(context)).client.updateWatch(ref, change)
  if (context.json) return printJson(context, watch)
  await printLine(
    context,
    `changed ${watch.name}: ${watch.schedule ?? 'runs only when triggered'}; next cycle: ${nextOf(watch, new Date())}`,
  )
}

const SHOWN_CYCLES = 5

async function show(ref: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const [watch, { items }] = await Promise.all([
    client.getWatch(ref),
    client.listCycles(ref, { limit: SHOWN_CYCLES }),
  ])
  if (context.json) return printJson(context, { ...watch, lastCycles: items })
  const { safe } = styleFor(context.stdout, context.env)
  const now = new Date()
  for (const line of describeWatch(watch, now)) await printLine(context, safe(line))
  if (items.length === 0) return
  await printLine(context, '')
  await printTable(context, cycleRows(items, now))
}

async function listCycles(ref: string, options: Partial<PageRequest>, context: CliContext): Promise<void> {
  const page = await (await connect(context)).client.listCycles(ref, pageRequest(options))
  await printPage(context, page, {
    none: `${ref} has no cycles yet. Start one now with: reprise watch trigger ${ref}`,
    table: cycleRows,
    more: `reprise watch cycles ${ref}`,
  })
}

async function showCycle(id: string, context: CliContext): Promise<void> {
  const cycle = await (await connect(context)).client.getCycle(id)
  if (context.json) return printJson(context, cycle)
  const style = styleFor(context.stdout, context.env)
  const lines = describeCycle(cycle, style, widthOf(context.stdout), new Date())
  for (const line of lines) await printLine(context, line)
}

interface TriggerOptions {
  reason?: string
  payload?: string
  follow?: boolean
}

async function trigger(ref: string, options: TriggerOptions, context: CliContext): Promise<void> {
  const request = {
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(options.payload === undefined ? {} : { payload: await readPayload(options.payload, context) }),
  }
  const triggered = await (await connect(context)).client.triggerWatch(ref, request)
  const { cycleId, message } = triggered
  if (context.json) await printJson(context, options.follow ? { type: 'triggered', ...triggered } : triggered)
  else notify(context, styleFor(context.stderr, context.env).safe(message))
  if (cycleId === null) return
  if (options.follow) return followCycle(await connectLastingly(context), cycleId, context)
  if (context.json) return
  await printLine(context, cycleId)
  notify(context, `See its result with: reprise watch cycle ${cycleId}`)
}

async function change(ref: string, action: 'pause' | 'resume', context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const watch = action === 'pause' ? await client.pauseWatch(ref) : await client.resumeWatch(ref)
  if (context.json) return printJson(context, watch)
  await printLine(
    context,
    watch.state === 'paused'
      ? `${watch.name} is paused`
      : `${watch.name} is active; next cycle: ${nextOf(watch, new Date())}`,
  )
}

async function cancel(id: string, context: CliContext): Promise<void> {
  const cycle = await (await connect(context)).client.cancelCycle(id)
  if (context.json) return printJson(context, cycle)
  await printLine(context, cycle.state === 'ended' ? `${id} ${resultOf(cycle)}` : `cancelling ${id}`)
}

async function remove(ref: string, context: CliContext): Promise<void> {
  await (await connect(context)).client.removeWatch(ref)
  if (context.json) return printJson(context, { watch: ref, removed: true })
  await printLine(context, `removed ${ref}`)
}
