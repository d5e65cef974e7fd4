/** `reprise service`: lets systemd start the daemon. */

import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { RepriseError } from '../../contract/errors.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { print } from '../base/output.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'
import { requireSystemd, type Systemd, systemdOf, UNIT } from '../service/systemd.ts'
import { composeUnit } from '../service/unit.ts'

const EXAMPLES = `
systemd then starts the daemon when you log in (with --system: when the machine starts), and again if it fails. Agents
continue when the daemon is restarted. For a daemon that runs while you are not logged in: loginctl enable-linger

Examples:
  reprise service install --dry-run    print the unit and the commands, change nothing
  reprise service install
  reprise service status
  reprise service remove
  sudo --preserve-env=HOME,PATH reprise service install --system`

interface ServiceOptions {
  system?: boolean
  dryRun?: boolean
}

const INSTALLS = [['daemon-reload'], ['enable', UNIT], ['restart', UNIT]] as const

export function define(command: Command, context: CliContext): void {
  command.description('Lets systemd start the daemon.').addHelpText('after', EXAMPLES)
  const add = (name: string, summary: string, action: (options: ServiceOptions) => Promise<void>) =>
    command
      .command(name)
      .summary(summary)
      .option('--system', 'as a service of the machine instead of one of the user; needs root')
      .action(action)
  add('install', 'write the unit, enable and start it', (options) => install(options, context)).option(
    '--dry-run',
    'print what would be done, and do nothing',
  )
  add('status', 'show whether it is installed and runs; exits with 1 if not', (options) =>
    status(options, context),
  )
  add('remove', 'stop it and remove the unit; agents keep running', (options) =>
    remove(options, context),
  ).option('--dry-run', 'print what would be done, and do nothing')
}

async function install(
  { system = false, dryRun = false }: ServiceOptions,
  context: CliContext,
): Promise<void> {
  const systemd = systemdOf(context, system)
  const home = homeOf(context)
  const unit = composeUnit({
    // The same from the sources (src/cli) and from the bundle (dist/app).
    program: resolve(dirname(context.entry), '../../bin/reprise'),
    home,
    path: context.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    user: system ? (context.env.SUDO_USER ?? userInfo().username) : null,
  })
  const commands = INSTALLS.map(systemd.show)
  if (dryRun) {
    if (context.json) return printJson(context, { dryRun, file: systemd.file, unit, commands })
    notify(context, `Would write ${systemd.file}, then run: ${commands.join('; ')}`)
    return print(context.stdout, unit)
  }
  await requireSystemd(systemd, system)
  await refuseOtherDaemon(systemd, home)
  await changeFile(systemd, async () => {
    await mkdir(dirname(systemd.file), { recursive: true })
    await writeFile(systemd.file, unit, { mode: 0o644 })
  })
  for (const args of INSTALLS) await systemd.run(args)
  if (context.json) return printJson(context, { installed: true, file: systemd.file })
  await printLine(context, `Installed ${systemd.file} and started the daemon.`)
  notify(context, `See \`reprise service status\`; its log: ${logCommand(system)}`)
}

/** Two daemons cannot use one home. */
async function refuseOtherDaemon(systemd: Systemd, home: string): Promise<void> {
  if ((await systemd.ask(['is-active', UNIT])) === 'active') return
  const daemon = await findDaemon(home)
  if (!daemon) return
  throw new RepriseError('conflict', `a daemon that systemd did not start runs already (pid ${daemon.pid})`, {
    hint: 'Stop it with: reprise down; running agents continue. Then install the service.',
  })
}

async function status({ system = false }: ServiceOptions, context: CliContext): Promise<void> {
  const systemd = systemdOf(context, system)
  const { file } = systemd
  const isInstalled = existsSync(file)
  if (isInstalled) await requireSystemd(systemd, system)
  const state = isInstalled ? (await systemd.ask(['is-active', UNIT])) || 'unknown' : null
  const startup = isInstalled ? (await systemd.ask(['is-enabled', UNIT])) || 'unknown' : null
  if (state !== 'active') context.exitCode = EXIT.failed
  if (context.json) return printJson(context, { installed: isInstalled, file, state, startup })
  if (!isInstalled) {
    return printLine(
      context,
      `The service is not installed (${file}). Install it with: reprise service install`,
    )
  }
  await printLine(context, `${file}: ${state}, ${startup}`)
  notify(context, `Its log: ${logCommand(system)}`)
}

async function remove(
  { system = false, dryRun = false }: ServiceOptions,
  context: CliContext,
): Promise<void> {
  const systemd = systemdOf(context, system)
  const { file } = systemd
  const isInstalled = existsSync(file)
  const commands = [systemd.show(['disable', '--now', UNIT]), `rm ${file}`, systemd.show(['daemon-reload'])]
  if (!isInstalled) {
    if (context.json) return printJson(context, { removed: false, file })
    return printLine(context, `The service is not installed (${file}).`)
  }
  if (dryRun) {
    if (context.json) return printJson(context, { dryRun, file, commands })
    return printLine(context, `Would run: ${commands.join('; ')}`)
  }
  await requireSystemd(systemd, system)
  await systemd.run(['disable', '--now', UNIT])
  await changeFile(systemd, () => rm(file, { force: true }))
  await systemd.run(['daemon-reload'])
  if (context.json) return printJson(context, { removed: true, file })
  await printLine(context, `Stopped the daemon and removed ${file}. Running agents continue.`)
}

async function changeFile({ file }: Systemd, change: () => Promise<void>): Promise<void> {
  try {
    await change()
  } catch (error) {
    throw new RepriseError('forbidden', `cannot write ${file}: ${(error as Error).message}`, {
      hint: 'A service of the machine needs root: use sudo, or install it without --system.',
      cause: error,
    })
  }
}

const logCommand = (system: boolean) => `journalctl ${system ? '' : '--user '}--unit ${UNIT}`
