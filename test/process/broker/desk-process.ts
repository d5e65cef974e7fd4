/**
 * A desk in a process of its own, to be killed. Usage: desk-process.ts OPTIONS, in JSON. Prints every event as a line, and `ready`
 * first. With `dieAt` it kills itself at that point.
 */
import { openBroker } from '../../../src/process/broker/desk.ts'
import { findSandboxRoot } from '../../../src/process/broker/sandbox-root.ts'

export interface DeskOptions {
  shared: string
  private: string
  programs: [string, string][]
  /** The process that started the sandbox. null: there is no sandbox. */
  keeper: number | null
  cwd: string
  env: Record<string, string>
  dieAt: 'decide' | 'decided' | 'ended' | null
}

const options: DeskOptions = JSON.parse(process.argv[2] ?? '')
const die = () => process.kill(process.pid, 'SIGKILL')
const { shared, cwd, env, dieAt, keeper } = options

openBroker({
  shared,
  private: options.private,
  programs: new Map(options.programs),
  sandboxRootPid: async () => (keeper === null ? process.pid : findSandboxRoot(keeper)),
  decide: async ({ path, args }) => {
    if (dieAt === 'decide') die()
    return { decision: 'run', program: path, args, cwd, env }
  },
  onEvent: (event) => {
    if (dieAt === event.type) die()
    process.stdout.write(`${JSON.stringify(event)}\n`)
  },
})
process.stdout.write('ready\n')
// Ends when the process that started it ends.
process.stdin.resume()
process.stdin.once('end', () => process.exit())
