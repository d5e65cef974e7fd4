/** Checks of the configuration, the daemon, its address and its port. */
import { createServer } from 'node:net'
import { describeExposure, KEEP_LOCAL } from '../../config/exposure.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { toRepriseError } from '../../contract/errors.ts'
import type { CliContext } from '../base/context.ts'
import { type DaemonLink, explainRefusal, findDaemon } from '../daemon/link.ts'
import { type Check, fail, ok, warn } from './check.ts'

export function checkConfig(home: string, context: CliContext): { check: Check; config: Config | null } {
  try {
    const { config, sources } = loadConfig({ home, cwd: context.cwd, env: context.env })
    const from = sources.length === 0 ? 'defaults only' : `from ${sources.join(', ')}`
    return { check: ok('config', `the configuration is valid (${from})`), config }
  } catch (error) {
    const { message, hint } = toRepriseError(error)
    return { check: fail('config', message, hint ?? 'Correct the configuration.'), config: null }
  }
}

export async function checkDaemon(
  home: string,
  context: CliContext,
): Promise<{ check: Check; daemon: DaemonLink | null }> {
  try {
    const daemon = await findDaemon(home)
    if (!daemon) return { check: ok('daemon', 'not running; commands start it when they need it'), daemon }
    const { version } = await daemon.client.status()
    if (version === context.version) {
      return { check: ok('daemon', `running at ${daemon.url} (pid ${daemon.pid})`), daemon }
    }
    const message = `the running daemon is version ${version}, this is ${context.version}`
    return { check: warn('daemon', message, 'Run: reprise up --restart; running agents continue'), daemon }
  } catch (error) {
    const { message, hint } = explainRefusal(toRepriseError(error), home)
    return { check: fail('daemon', message, hint ?? 'Run: reprise down && reprise up'), daemon: null }
  }
}

export function checkExposure({ server }: Config): Check[] {
  const exposure = describeExposure(server.host)
  return exposure === null ? [] : [warn('host', exposure, KEEP_LOCAL)]
}

export async function checkPort(config: Config, daemon: DaemonLink | null): Promise<Check> {
  const { host, port } = config.server
  const where = `${host}:${port}`
  if (daemon && Number(new URL(daemon.url).port) === port) return ok('port', `${where} is used by the daemon`)
  const problem = await tryListening(host, port)
  if (problem === null) return ok('port', port === 0 ? 'a free port will be chosen' : `${where} is free`)
  if (problem !== 'EADDRINUSE') {
    return fail('port', `cannot listen on ${where} (${problem})`, 'Change server.host or server.port.')
  }
  const pid = await findReprise(where)
  const user = pid === null ? 'another program' : `another Reprise (pid ${pid})`
  const hint = 'Set REPRISE_PORT to another port (0 chooses a free one), or end that program.'
  return daemon
    ? warn('port', `${where} is in use by ${user}`, hint)
    : fail('port', `${where} is in use by ${user}`, hint)
}

function tryListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

/** The pid of the Reprise daemon that answers there, or null. */
async function findReprise(where: string): Promise<number | null> {
  try {
    const response = await fetch(`http://${where}/api/health`, { signal: AbortSignal.timeout(1000) })
    const body = (await response.json()) as { status?: string; pid?: number; startedAt?: string }
    const isOne = body.status === 'ok' && typeof body.startedAt === 'string'
    return isOne ? (body.pid ?? null) : null
  } catch {
    return null
  }
}
