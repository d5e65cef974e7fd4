/** `reprise up`: starts the daemon, in the background or in this process. */
import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { type Ready, tellFailed, tellReady } from '../daemon/handshake.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'

const EXAMPLES = `
Examples:
  reprise up                 start it in the background and print its URL
  reprise up --foreground    run it in this terminal, until Ctrl-C
  REPRISE_PORT=0 reprise up  use a free port`

export function define(command: Command, context: CliContext): void {
  command
    .description('Starts the daemon, unless it is running already. Open runs are taken over.')
    .option('--foreground', 'run it in this process until Ctrl-C or SIGTERM')
    .addHelpText('after', EXAMPLES)
    .action((options: { foreground?: boolean }) =>
      options.foreground ? runHere(context) : startDetached(context),
    )
}

async function startDetached(context: CliContext): Promise<void> {
  const home = homeOf(context)
  const running = await findDaemon(home)
  if (running) {
    const { url, pid } = running
    const { simulator } = await running.client.status()
    const dashboard = (await running.client.createSignInLink()).url
    return show(context, { url, pid, simulator, notices: [] }, { home, dashboard, alreadyRunning: true })
  }
  const { startInBackground } = await import('../daemon/process.ts')
  const { link, notices, simulator } = await startInBackground(context, home)
  const dashboard = (await link.client.createSignInLink()).url
  await show(
    context,
    { url: link.url, pid: link.pid, simulator, notices },
    { home, dashboard, alreadyRunning: false },
  )
}

async function runHere(context: CliContext): Promise<void> {
  const home = homeOf(context)
  // A daemon continues when its log cannot be written, because the disk is full or the terminal is gone.
  context.outputFailed = () => {}
  const daemon = await start(context, home).catch(async (error: unknown) => {
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

async function start(context: CliContext, home: string) {
  const [{ startDaemon }, { createLog }] = await Promise.all([
    import('../../daemon/start.ts'),
    import('../../daemon/log.ts'),
  ])
  const env: Environment = context.env
  return startDaemon({ home, cwd: context.cwd, env, log: createLog() })
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
