/** `reprise up`: starts the daemon, in the background or in this process. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { usageError } from '../base/usage-error.ts'
import { type Ready, tellFailed, tellReady, tellWorking } from '../daemon/handshake.ts'
import { type DaemonLink, findDaemon, homeOf } from '../daemon/link.ts'
import { reinstate, rememberPredecessor } from '../daemon/predecessor.ts'
import { readScenario } from '../daemon/scenario-file.ts'
import { findReplaceable, type Replaced, type TakeOverOptions, takeOver } from '../daemon/take-over.ts'

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
    .addOption(new Option('--replace <pid>', 'the daemon to take over from').hideHelp())
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
  /** `reprise up` passes it to the process that it starts in the background. */
  replace?: string
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
  const found = await findReplaceable(context, home, wanted)
  if ('left' in found) {
    if (scenario !== undefined)
      throw usageError(
        'a daemon is running already, without this scenario',
        'Replace it with: reprise up --restart --scenario FILE',
      )
    return showRunning(context, found.left, home)
  }
  const predecessor = found.replace && rememberPredecessor(home, found.replace)
  const { startInBackground } = await import('../daemon/process.ts')
  const { link, notices, simulator } = await startInBackground(context, home, [
    ...(scenario === undefined ? [] : ['--scenario', resolve(context.cwd, scenario)]),
    ...(predecessor ? ['--replace', String(predecessor.pid)] : []),
    ...(wanted.restore
      ? ['--restore-backup', ...(wanted.restore.file === null ? [] : [wanted.restore.file])]
      : []),
  ]).catch(async (error: unknown) => {
    throw predecessor ? await reinstate(context, home, predecessor, error) : error
  })
  const dashboard = (await link.client.createSignInLink()).url
  const { url, pid, version } = link
  const replaced = predecessor && { pid: predecessor.pid, version: predecessor.version }
  await show(context, { url, pid, simulator, notices }, { home, dashboard, version, replaced })
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
  const { replaced, daemon } = await startAsNext(context, home, options)
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

/** Takes over from the daemon that runs, if it is to be replaced, and starts. */
async function startAsNext(context: CliContext, home: string, options: UpOptions) {
  const wanted = takeOverOptions(options, context)
  const running = await daemonToReplace(context, home, options, wanted)
  const predecessor = running && rememberPredecessor(home, running)
  const onWork = (what: string) => {
    if (!tellWorking(what) && !context.json) notify(context, what)
  }
  try {
    const replaced = running ? await takeOver(context, home, running, { ...wanted, onWork }) : null
    return { replaced, daemon: await start(context, home, options, onWork) }
  } catch (error) {
    const isTold = await tellFailed(error)
    const explained = isTold || !predecessor ? error : await reinstate(context, home, predecessor, error)
    leaveSoon()
    throw explained
  }
}

/** In the background, the command that started this process has chosen. */
async function daemonToReplace(
  context: CliContext,
  home: string,
  { replace }: UpOptions,
  wanted: TakeOverOptions,
): Promise<DaemonLink | null> {
  if (!process.send) {
    const found = await findReplaceable(context, home, wanted)
    return 'replace' in found ? found.replace : null
  }
  const running = replace === undefined ? null : await findDaemon(home)
  return running?.pid === Number(replace) ? running : null
}

/** Exits after a second, in case something still keeps the process alive. */
function leaveSoon(): void {
  setTimeout(() => process.exit(), 1000).unref()
}

async function start(context: CliContext, home: string, options: UpOptions, onWork: (what: string) => void) {
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
    onWork,
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
