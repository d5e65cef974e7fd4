/** `reprise up`: starts the daemon, in the background or in this process. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { usageError } from '../base/usage-error.ts'
import { type Ready, tellFailed, tellReady, tellWorking } from '../daemon/handshake.ts'
import { type DaemonLink, homeOf } from '../daemon/link.ts'
import { readScenario } from '../daemon/scenario-file.ts'
import { type Replaced, type TakeOverOptions, takeOver } from '../daemon/take-over.ts'

const EXAMPLES = `
Examples:
  reprise up                 start it in the background and print its URL
  reprise up --foreground    run it in this terminal, until Ctrl-C
  reprise up --scenario s.yaml   let the agents talk to a scripted model (docs/simulator.md)
  reprise up --restart       replace the daemon, whatever its version, for instance after a change of settings
  REPRISE_PORT=0 reprise up  use a free port

A daemon of an older version is replaced. Before its database is migrated, a copy is kept in $REPRISE_HOME/backups. To go
back, use the older version:
  reprise up --restore-backup`

export function define(command: Command, context: CliContext): void {
  command
    .description(
      'Starts the daemon, or takes over from one of an older version. Running agents continue, and open runs are taken over.',
    )
    .option('--foreground', 'run it in this process until Ctrl-C or SIGTERM')
    .option('--scenario <file>', 'let the agents talk to the simulator, which plays this scenario')
    .option('--restart', 'replace a daemon that runs already, whatever its version')
    .option(
      '--restore-backup [file]',
      'go back to a copy of the database, by default the newest that this version can use',
    )
    .addHelpText('after', EXAMPLES)
    .action((options: UpOptions) =>
      options.foreground ? runHere(context, options) : startDetached(context, options),
    )
}

interface UpOptions {
  foreground?: boolean
  scenario?: string
  restart?: boolean
  restoreBackup?: string | true
}

const takeOverOptions = (
  { restart = false, restoreBackup }: UpOptions,
  { cwd }: CliContext,
): TakeOverOptions => ({
  restart,
  restore:
    restoreBackup === undefined
      ? undefined
      : { file: restoreBackup === true ? null : resolve(cwd, restoreBackup) },
})

async function startDetached(context: CliContext, options: UpOptions): Promise<void> {
  const { scenario } = options
  // Checked here, so that a mistake in it is reported by this command.
  if (scenario !== undefined) await readScenario(scenario, context)
  const home = homeOf(context)
  const wanted = takeOverOptions(options, context)
  const found = await takeOver(context, home, wanted)
  if ('left' in found) {
    if (scenario !== undefined)
      throw usageError(
        'a daemon is running already, without this scenario',
        'Replace it with: reprise up --restart --scenario FILE',
      )
    return showRunning(context, found.left, home)
  }
  const { startInBackground } = await import('../daemon/process.ts')
  const { link, notices, simulator } = await startInBackground(context, home, [
    ...(scenario === undefined ? [] : ['--scenario', resolve(context.cwd, scenario)]),
    ...(wanted.restore
      ? ['--restore-backup', ...(wanted.restore.file === null ? [] : [wanted.restore.file])]
      : []),
  ])
  const dashboard = (await link.client.createSignInLink()).url
  const { url, pid, version } = link
  await show(
    context,
    { url, pid, simulator, notices },
    { home, dashboard, version, replaced: found.replaced },
  )
}

async function showRunning(context: CliContext, link: DaemonLink, home: string): Promise<void> {
  const { url, pid, version, client } = link
  const { simulator } = await client.status()
  const dashboard = (await client.createSignInLink()).url
  const notices =
    version === context.version
      ? []
      : [
          `It is Reprise ${version}, this command is Reprise ${context.version}. To replace it nevertheless: reprise up --restart`,
        ]
  await show(context, { url, pid, simulator, notices }, { home, dashboard, version, alreadyRunning: true })
}

async function runHere(context: CliContext, options: UpOptions): Promise<void> {
  const home = homeOf(context)
  // A daemon continues when its log cannot be written, because the disk is full or the terminal is gone.
  context.outputFailed = () => {}
  // In the background, the command that started this process has done it.
  const found = process.send ? null : await takeOver(context, home, takeOverOptions(options, context))
  const daemon = await start(context, home, options).catch(async (error: unknown) => {
    await tellFailed(error)
    leaveSoon()
    throw error
  })
  let stopping = false
  const stop = () => {
    // A second signal ends the process at once.
    if (stopping) process.exit(EXIT.interrupted)
    stopping = true
    void daemon.close()
  }
  context.interrupt = stop
  process.on('SIGTERM', stop).on('SIGHUP', stop)
  const { url, pid, simulator, notices } = daemon
  // A daemon in the background writes into its log, where a link does not belong.
  const dashboard = process.send ? null : await daemon.createSignInLink()
  const replaced = found && 'replaced' in found ? found.replaced : null
  await show(
    context,
    { url, pid, simulator, notices },
    { home, dashboard, version: context.version, replaced },
  )
  await tellReady({ url, pid, simulator, notices })
  const cause = await daemon.closed
  const ended = {
    asked: 'Stopped. Running agents continue; the next `reprise up` takes them over.',
    'home-gone': `Stopped: ${home} was removed, renamed or replaced. Running agents end by themselves.`,
  }
  if (!context.json) notify(context, ended[cause])
  if (cause === 'home-gone') context.exitCode = EXIT.failed
  leaveSoon()
}

/** Exits after a second, in case something still keeps the process alive. */
function leaveSoon(): void {
  setTimeout(() => process.exit(), 1000).unref()
}

async function start(context: CliContext, home: string, options: UpOptions) {
  const { scenario: file } = options
  const scenario = file === undefined ? undefined : await readScenario(file, context)
  const [{ startDaemon }, { createLog }] = await Promise.all([
    import('../../daemon/start.ts'),
    import('../../daemon/log.ts'),
  ])
  const env: Environment = context.env
  return startDaemon({
    home,
    cwd: context.cwd,
    env,
    log: createLog(),
    scenario,
    restore: takeOverOptions(options, context).restore,
    onWork: (what) => {
      if (!tellWorking(what) && !context.json) notify(context, what)
    },
  })
}

interface Shown {
  home: string
  dashboard: string | null
  version: string
  alreadyRunning?: boolean
  replaced?: Replaced | null
}

async function show(
  context: CliContext,
  { url, pid, simulator, notices }: Ready,
  { home, dashboard, version, alreadyRunning = false, replaced = null }: Shown,
): Promise<void> {
  if (context.json) {
    return printJson(context, {
      url,
      pid,
      home,
      simulator,
      notices,
      dashboard,
      alreadyRunning,
      version,
      replaced,
    })
  }
  await printLine(
    context,
    `Reprise ${alreadyRunning ? 'is already up' : 'is up'} at ${url} (pid ${pid}, home ${home})`,
  )
  if (replaced) {
    await printLine(
      context,
      `Reprise ${version} took over from ${replaced.version} (pid ${replaced.pid}). Running agents continue.`,
    )
  }
  for (const notice of notices) await printLine(context, notice)
  if (dashboard !== null)
    await printLine(context, `Dashboard: ${dashboard} (signs in once; later: reprise open)`)
}
