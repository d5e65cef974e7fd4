/**
 * A broker's desk in its own process, as in the daemon, that runs every program as it was called.
 * Usage: answers-shims.ts SHARED PRIVATE KEEPER NAME=PATH…, where KEEPER is the process that started the sandbox, or 0 if there is none.
 */
import { openBroker } from '../src/process/broker/desk.ts'
import { findSandboxRoot } from '../src/process/broker/sandbox-root.ts'

const [shared = '', privateDir = '', keeper = '', ...programs] = process.argv.slice(2)
openBroker({
  shared,
  private: privateDir,
  programs: new Map(programs.map((text) => [text.split('=')[0] ?? '', text.split('=')[1] ?? ''])),
  sandboxRootPid: async () => (keeper === '0' ? process.pid : findSandboxRoot(Number(keeper))),
  decide: async ({ path, args }) => ({ decision: 'run', program: path, args, cwd: '/', env: {} }),
  onEvent: () => {},
})
process.stdout.write('ready\n')
// Ends when the process that started it ends.
process.stdin.resume()
process.stdin.once('end', () => process.exit())
