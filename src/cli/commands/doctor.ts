/** `reprise doctor`: checks the installation and suggests fixes. It changes nothing and starts nothing. */
import type { Command } from 'commander'
import type { Config } from '../../config/schema.ts'
import type { Agent } from '../../contract/agent.ts'
import { toRepriseError } from '../../contract/errors.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { type DaemonLink, homeOf } from '../daemon/link.ts'
import { checkAgents } from '../doctor/agents.ts'
import { type Check, fail } from '../doctor/check.ts'
import { checkConnections } from '../doctor/connection.ts'
import { checkConfig, checkDaemon, checkExposure, checkPort } from '../doctor/daemon.ts'
import { checkHome } from '../doctor/home.ts'
import { checkMachine } from '../doctor/machine.ts'
import { checkProcesses } from '../doctor/processes.ts'
import { checkSandbox } from '../doctor/sandbox.ts'
import { type Style, styleFor } from '../terminal/terminal.ts'

export function define(command: Command, context: CliContext): void {
  command
    .description(
      'Checks the installation and suggests fixes. Exits with 1 if a check fails, 4 if no agent is available.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  reprise doctor\n  reprise doctor --json | jq \'.checks[] | select(.status != "ok")\'',
    )
    .action(() => examine(context))
}

async function examine(context: CliContext): Promise<void> {
  const home = homeOf(context)
  const { canMarkByLimit, probeSandbox } = await import('../../library/probe.ts')
  const { check: configCheck, config } = checkConfig(home, context)
  const [machine, homeChecks, { check: daemonCheck, daemon }] = await Promise.all([
    checkMachine(context),
    checkHome(home),
    checkDaemon(home, context),
  ])
  const port = config ? [...checkExposure(config), await checkPort(config, daemon)] : []
  const agents = config ? await findAgents(home, daemon, context) : []
  const agentChecks = Array.isArray(agents)
    ? [...checkAgents(agents), ...(await checkConnections(agents))]
    : [agents]
  const checks = [
    ...machine,
    ...homeChecks,
    configCheck,
    daemonCheck,
    checkProcesses(canMarkByLimit()),
    checkSandbox(
      await probeSandbox(context.env, config?.run.sandboxKind ?? 'auto'),
      config !== null && demandsSandbox(config),
    ),
    ...port,
    ...(config ? agentChecks : []),
  ]

  const noAgent = config !== null && !(Array.isArray(agents) && agents.some((agent) => agent.available))
  const failed = checks.some((check) => check.status === 'fail')
  context.exitCode = noAgent ? EXIT.agentUnavailable : failed ? EXIT.failed : EXIT.done
  if (context.json) return printJson(context, { ok: !failed, checks })
  const style = styleFor(context.stdout, context.env)
  for (const check of checks) await printLine(context, describe(check, style))
}

const demandsSandbox = ({ run, tiers }: Config) => run.sandbox === 'on' || tiers.enforcement === 'kernel'

/** Asks the daemon if one runs, because the daemon is what uses the agents. */
async function findAgents(
  home: string,
  daemon: DaemonLink | null,
  context: CliContext,
): Promise<Agent[] | Check> {
  try {
    if (daemon) return await daemon.client.listAgents()
    const { probeAgents } = await import('../../library/probe.ts')
    return await probeAgents({ home, cwd: context.cwd, env: context.env })
  } catch (error) {
    const { message, hint } = toRepriseError(error)
    return fail(
      'agents',
      `could not look for agents: ${message}`,
      hint ?? 'Check `agents` in the configuration.',
    )
  }
}

function describe({ name, status, message, hint }: Check, style: Style): string {
  const mark = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }[status]
  const line = `${mark} ${name.padEnd(12)} ${style.safe(message)}`
  return hint === undefined ? line : `${line}\n     ${' '.repeat(12)} ${style.dim('→')} ${style.safe(hint)}`
}
