/** `reprise up`: starts the daemon, in the background or in this process. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { usageError } from '../base/usage-error.ts'
import { type Ready, tellFailed, tellReady } from '../daemon/handshake.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'
import { readScenario } from '../daemon/scenario-file.ts'

const EXAMPLES = `
Examples:
  reprise up                 start it in the background and print its URL
  reprise up --foreground    run it in this terminal, until Ctrl-C
  reprise up --scenario s.yaml   let the agents talk to a scripted model (docs/simulator.md)
  REPRISE_PORT=0 reprise up  use a free port`

export function define(command: Command, context: CliContext): void {
  command
    .description('Starts the daemon, unless it is running already. Open runs are taken over.')
    .option('--foreground', 'run it in this process until Ctrl-C or SIGTERM')
    .option('--scenario <file>', 'let the agents talk to the simulator, which plays this scenario')
    .addHelpText('after', EXAMPLES)
    .action((options: UpOptions) =>
      options.foreground ? runHere(context, options) : startDetached(context, options),
    )
}

interface UpOptions {
  foreground?: boolean
  scenario?: string
}

async function startDetached(context: CliContext, { scenario }: UpOptions): Promise<void> {
  // Checked here, so that a mistake in it is reported by this command.
  if (scenario !== undefined) await readScenario(scenario, context)
  const home = homeOf(context)
  const running = await findDaemon(home)
  if (running) {
    if (scenario !== undefined)
      throw usageError('a daemon is running already, without this scenario', 'Stop it first: reprise down')
    const { url, pid } = running
    const { simulator } = await running.client.status()
    const dashboard = (await running.client.createSignInLink()).url
    return show(context, { url, pid, simulator, notices: [] }, { home, dashboard, alreadyRunning: true })
  }
  const { startInBackground } = await import('../daemon/process.ts')
  const { link, notices, simulator } = await startInBackground(
    context,
    home,
    scenario === undefined ? [] : ['--scenario', resolve(context.cwd, scenario)],
  )
  const dashboard = (await link.client.createSignInLink()).url
  await show(
    context,
    { url: link.url, pid: link.pid, simulator, notices },
    { home, dashboard, alreadyRunning: false },
  )
}

async function runHere(context: CliContext, options: UpOptions): Promise<void> {
  const home = homeOf(context)
  // A daemon continues when its log cannot be written, because the disk is full or the terminal is gone.
  context.outputFailed = () => {}
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
  await show(context, { url, pid, simulator, notices }, { home, dashboard, alreadyRunning: false })
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

async function start(context: CliContext, home: string, { scenario: file }: UpOptions) {
  const scenario = file === undefined ? undefined : await readScenario(file, context)
  const [{ startDaemon }, { createLog }] = await Promise.all([
    import('../../daemon/start.ts'),
    import('../../daemon/log.ts'),
  ])
  const env: Environment = context.env
  return startDaemon({ home, cwd: context.cwd, env, log: createLog(), scenario })
}

async function show(
  context: CliContext,
  { url, pid, simulator, notices }: Ready,
  { home, dashboard, alreadyRunning }: { home: string; dashboard: string | null; alreadyRunning: boolean },
): Promise<void> {
  if (context.json)
    return printJson(context, { url, pid, home, simulator, notices, dashboard, alreadyRunning })
  await printLine(
    context,
    `Reprise ${alreadyRunning ? 'is already up' : 'is up'} at ${url} (pid ${pid}, home ${home})`,
  )
  for (const notice of notices) await printLine(context, notice)
  if (dashboard !== null)
    await printLine(context, `Dashboard: ${dashboard} (signs in once; later: reprise open)`)
}
