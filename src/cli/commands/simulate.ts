/** `reprise simulate`: runs the scripted model server alone, for agents and tests outside the daemon. */
import { type Command, InvalidArgumentError } from 'commander'
import { RepriseError } from '../../contract/errors.ts'
import type { RequestRecord } from '../../simulator/request-record.ts'
import type { Simulator } from '../../simulator/server.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { readScenario } from '../daemon/scenario-file.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
Examples:
  reprise simulate
  reprise simulate --scenario flaky.yaml --port 4010
  ANTHROPIC_BASE_URL=http://127.0.0.1:4010 ANTHROPIC_API_KEY=any claude -p "hello"`

/** The longest delay of a timer. */
const FOREVER_MS = 2 ** 31 - 1

interface SimulateOptions {
  scenario?: string
  port?: number
}

export function define(command: Command, context: CliContext): void {
  command
    .description('Runs a scripted model server for real agent CLIs, until Ctrl-C.')
    .option('--scenario <file>', 'scenario with its answers (default: a built-in one)')
    .option('--port <n>', 'port to listen on (default: a free one)', portNumber)
    .addHelpText('after', EXAMPLES)
    .action((options: SimulateOptions) => simulate(options, context))
}

async function simulate({ scenario: file, port = 0 }: SimulateOptions, context: CliContext): Promise<void> {
  const { startSimulator } = await import('../../simulator/server.ts')
  const scenario = file === undefined ? undefined : await readScenario(file, context)
  const simulator = await startSimulator({ port, ...(scenario ? { scenario } : {}) }).catch(
    (error: unknown) => {
      throw cannotListen(error, port)
    },
  )
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  context.interrupt = stop
  process.on('SIGTERM', stop)
  if (context.json) {
    await printJson(context, { url: simulator.url, port: simulator.port })
  } else {
    await printLine(context, `The simulator listens at ${simulator.url}. Use it with an agent:`)
    await printLine(
      context,
      `  ANTHROPIC_BASE_URL=${simulator.url} ANTHROPIC_API_KEY=simulated claude -p "hello"`,
    )
  }
  const logging = logRequests(simulator, context)
  await stopped
  await simulator.close()
  await logging
}

/** Prints a line for each answered request. Ends when the simulator closes. */
async function logRequests(simulator: Simulator, context: CliContext): Promise<void> {
  const { safe } = styleFor(context.stdout, context.env)
  const logged = new Set<number>()
  const isNew = (record: RequestRecord) => record.outcome !== 'pending' && !logged.has(record.n)
  for (;;) {
    const record = await simulator.waitFor(isNew, { timeoutMs: FOREVER_MS }).catch(() => null)
    if (!record) return
    logged.add(record.n)
    const { n, kind, model, status, outcome, rule, usage, userText } = record
    if (context.json) {
      await printJson(context, { n, kind, model, status, outcome, rule, usage, userText })
      continue
    }
    const said = firstLine(userText, 60)
    const what = `#${n} ${kind} ${model} ${status ?? '–'} ${outcome}${rule ? ` by "${rule}"` : ''}`
    await printLine(context, safe(`${what}${said ? `: ${said}` : ''}`))
  }
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('must be between 0 and 65535')
  return port
}

function cannotListen(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error
  const why = code === 'EACCES' ? 'permission denied' : 'another program uses it'
  return new RepriseError('port-taken', `cannot listen on port ${port}: ${why}`, {
    hint: 'Choose another --port, or leave it out to get a free one.',
    cause: error,
  })
}
