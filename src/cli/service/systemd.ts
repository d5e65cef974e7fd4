/** Calls systemctl, for the systemd of the machine or that of the user. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import type { CliContext } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'

export const UNIT = 'reprise.service'

export interface Systemd {
  /** The file of the unit. */
  file: string
  /** The command line, for people. */
  show: (args: readonly string[]) => string
  /** Throws if systemctl fails. */
  run: (args: readonly string[]) => Promise<string>
  /** The output, whatever the exit code is; systemctl's says the state. */
  ask: (args: readonly string[]) => Promise<string>
}

export function systemdOf(context: CliContext, system: boolean): Systemd {
  const scope = system ? [] : ['--user']
  const call = (args: readonly string[]) => systemctl([...scope, ...args], context)
  return {
    file: join(system ? '/etc/systemd/system' : userFolder(context), UNIT),
    show: (args) => ['systemctl', ...scope, ...args].join(' '),
    run: async (args) => {
      const { failed, stdout, stderr } = await call(args)
      if (!failed) return stdout
      throw new RepriseError(
        'internal',
        `systemctl ${[...scope, ...args].join(' ')} failed: ${stderr || stdout}`,
      )
    },
    ask: async (args) => (await call(args)).stdout,
  }
}

/** Throws if there is no systemd that could be asked. */
export async function requireSystemd(systemd: Systemd, system: boolean): Promise<void> {
  try {
    await systemd.run(['show', '--property=Version', '--value'])
  } catch (error) {
    throw new RepriseError(
      'not-found',
      system ? 'systemd does not run on this machine' : 'there is no systemd for this user',
      {
        hint: `Start the daemon with \`reprise up\`, or let another service manager run \`reprise up --foreground\`.${system ? '' : ' On a server, try --system.'}`,
        cause: error,
      },
    )
  }
}

function userFolder({ env }: CliContext): string {
  const config = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, '.config') : undefined)
  if (config === undefined) throw usageError('HOME is not set', 'Set it, or use --system.')
  return join(config, 'systemd', 'user')
}

interface Ended {
  failed: boolean
  stdout: string
  stderr: string
}

function systemctl(args: readonly string[], { env }: CliContext): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('systemctl', [...args], { env }, (error, stdout, stderr) => {
      const said = stderr.trim() || (error ? error.message : '')
      resolve({ failed: error !== null, stdout: stdout.trim(), stderr: said })
    })
  })
}
