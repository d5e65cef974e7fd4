/** `reprise sessions adopt`: lists sessions that people made with the agent itself, and takes them over. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { FoundSession } from '../../contract/adopt.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { count, formatAge, formatSize } from '../terminal/amounts.ts'
import { printTable } from '../terminal/print-page.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'

interface Options {
  agent?: string
  all?: true
  dir?: string
  dryRun?: true
}

const HELP = `
Without an id, --all or --dir it lists what could be adopted. An adopted session becomes a conversation with its history;
the next turn continues the session. Sessions that a process has open are left alone. The agent's files are not changed.

Examples:
  reprise sessions adopt                       list what could be adopted
  reprise sessions adopt 3f0c1e52-…            adopt one
  reprise sessions adopt --dir .               adopt those of this directory
  reprise sessions adopt --all --dry-run       only show them`

export function defineAdopt(command: Command, context: CliContext): void {
  command
    .command('adopt')
    .summary('take over sessions that were made without Reprise')
    .argument('[ids...]', "the agent's own ids of sessions", checkedId)
    .option('--agent <name>', 'whose sessions (default: the default agent)')
    .option('--all', 'all that can be adopted')
    .option('--dir <directory>', 'all of this directory')
    .option('--dry-run', 'only show what would be adopted')
    .addHelpText('after', HELP)
    .action((ids: string[], options: Options) => adopt(ids, options, context))
}

function checkedId(id: string, before: string[] = []): string[] {
  if (!/^[A-Za-z0-9][\w-]{0,127}$/.test(id))
    throw usageError(`${JSON.stringify(id)} is not the id of a session`)
  return [...before, id]
}

/** Few sessions at a time, so that progress is seen and an interruption loses little. */
const AT_ONCE = 20
const PAGE = 200

async function adopt(
  ids: string[],
  { agent, all, dir, dryRun }: Options,
  context: CliContext,
): Promise<void> {
  const ways = [ids.length > 0, all, dir !== undefined].filter(Boolean).length
  if (ways > 1) throw usageError('expected one of: ids, --all, --dir')
  const { client } = await connect(context)
  const of = agent === undefined ? {} : { agent }
  const where = { ...of, ...(dir === undefined ? {} : { workDir: resolve(context.cwd, dir) }) }
  if (ids.length > 0 && !dryRun) return report(await adoptIds(client, ids, of), context)
  const found = await listAll(client, where)
  if (ways === 0 || dryRun) {
    const shown = ids.length === 0 ? found : found.filter((one) => ids.includes(one.agentSessionId))
    return list(shown, context, ways === 0)
  }
  const adoptable = found.filter(({ state }) => state === 'adoptable').map((one) => one.agentSessionId)
  const others = found.filter(({ state }) => state !== 'adoptable')
  const adopted = await adoptIds(client, adoptable, of, (done) => {
    if (!context.json && adoptable.length > AT_ONCE) notify(context, `${done} of ${adoptable.length}`)
  })
  return report([...adopted, ...others], context, { many: true })
}

async function adoptIds(
  client: Client,
  ids: readonly string[],
  of: { agent?: string },
  onProgress: (done: number) => void = () => {},
): Promise<FoundSession[]> {
  const reports: FoundSession[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    reports.push(...(await client.adoptSessions({ ...of, ids: ids.slice(from, from + AT_ONCE) })))
    onProgress(reports.length)
  }
  return reports
}

async function listAll(client: Client, where: { agent?: string; workDir?: string }): Promise<FoundSession[]> {
  const found: FoundSession[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.listAdoptable({
      ...where,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    found.push(...page.items)
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
}

async function list(found: readonly FoundSession[], context: CliContext, hint: boolean): Promise<void> {
  if (context.json) return printJson(context, { items: found })
  if (found.length === 0) return notify(context, 'The agent has no sessions there.')
  const now = new Date()
  await printTable(context, {
    headings: ['ID', 'STATE', 'AGE', 'SIZE', 'DIRECTORY', 'FIRST PROMPT'],
    rows: found.map((one) => [
      one.agentSessionId,
      one.pid === null ? one.state : `${one.state} (pid ${one.pid})`,
      one.modifiedAt === null ? '–' : formatAge(one.modifiedAt, now),
      formatSize(one.bytes),
      one.workDir ?? '–',
      one.state === 'unusable' ? `(${one.message})` : firstLine(one.firstPrompt ?? '', 200),
    ]),
  })
  if (hint) notify(context, 'Adopt with: reprise sessions adopt ID, --dir DIRECTORY or --all')
}

/** Fails if sessions were named and one of them could not be adopted. */
async function report(
  reports: readonly FoundSession[],
  context: CliContext,
  { many = false } = {},
): Promise<void> {
  const failed = reports.filter(({ state }) => state === 'live' || state === 'unusable')
  if (failed.length > 0 && !many) context.exitCode = EXIT.failed
  if (context.json) return printJson(context, { items: reports })
  const { safe } = styleFor(context.stdout, context.env)
  for (const one of reports) await printLine(context, safe(`${one.agentSessionId}  ${describe(one)}`))
  if (many) {
    const adopted = reports.filter(({ state }) => state === 'adopted').length
    notify(context, `${count(adopted, 'session')} adopted, ${reports.length - adopted} left alone`)
  }
}

function describe({ state, message, conversationId, turns, session }: FoundSession): string {
  const command = conversationId
    ? `reprise chat ${conversationId}`
    : session && `reprise run --session ${session} "…"`
  const next = command ? `; continue with: ${command}` : ''
  if (state === 'adopted') return `adopted as ${session}, ${count(turns ?? 0, 'turn')} imported${next}`
  return `${state === 'known' ? 'skipped' : 'not adopted'}: ${message}${next}`
}
