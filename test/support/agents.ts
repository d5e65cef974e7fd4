/** Executables that wrap the real CLI. */
import { existsSync, readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { World } from './world.ts'

const REAL = resolve(import.meta.dirname, '../../node_modules/.bin/claude')

export interface LoggingAgent {
  command: string
  /** The arguments of each start for a turn, oldest first. */
  starts: () => string[][]
  /** The resume flag of the last start, if it had one. */
  resumed: () => string | undefined
  /**
   * A shell script that runs before the CLI ($real) at every start for a turn, and may end or replace it; null: none.
   */
  beforeTurn: (script: string | null) => Promise<void>
}

/**
 * The real CLI, with its arguments recorded. `help` is a sed script applied to its --help, `version` replaces its
 * version.
 */
export async function loggingAgent(
  world: World,
  name = 'claude',
  help = '',
  version = '',
): Promise<LoggingAgent> {
  const command = join(world.dir, `${name}-logged`)
  const log = join(world.dir, `${name}.argv`)
  const script = join(world.dir, `${name}.before-turn`)
  await writeFile(
    command,
    `#!/bin/sh
case $1 in
  --help) "${REAL}" --help | sed '${help}'; exit ;;
${version && `  --version) echo '${version} (Claude Code)'; exit ;;`}
  -p) for arg in "$@"; do printf '%s\\t' "$arg"; done >>"${log}"; echo >>"${log}" ;;
esac
real="${REAL}"
if [ -e "${script}" ] && [ "$1" = -p ]; then . "${script}"; fi
exec "$real" "$@"
`,
  )
  await chmod(command, 0o755)
  const starts = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split('\t').filter(Boolean))
      : []
  return {
    command,
    starts,
    resumed: () =>
      starts()
        .at(-1)
        ?.find((arg) => arg.startsWith('--resume')),
    beforeTurn: (text) => (text === null ? rm(script, { force: true }) : writeFile(script, `${text}\n`)),
  }
}

/**
 * A fake CLI: it implements as much of the protocol as one turn needs, in which tools print far more than a simulator
 * could be scripted to. Its lines have the form of the CLI's own, which contain each result twice.
 */
export async function floodingAgent(world: World, results: number, resultBytes: number): Promise<string> {
  const command = join(world.dir, 'floods-with-tool-results')
  const flags = [
    '--input-format',
    '--output-format',
    '--resume',
    '--session-id',
    '--include-partial-messages',
  ]
  await writeFile(
    command,
    `#!${process.execPath}
if (process.argv[2] === '--version') console.log('2.1.0 (Claude Code)')
else if (process.argv[2] === '--help') console.log(${JSON.stringify(flags.map((f) => `  ${f} x`).join('\n'))})
else require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.type === 'user') turn(message.uuid)
  else if (message.request?.subtype === 'end_session') process.exitCode = 0
})
const session = process.argv.find((arg) => /^--(session-id|resume)=/.test(arg))?.split('=')[1]
const print = (line) => require('node:fs').writeSync(1, JSON.stringify({ ...line, session_id: session }) + '\\n')
function turn(uuid) {
  print({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' })
  print({ type: 'system', subtype: 'init', tools: ['Bash'] })
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  for (let n = 0; n < ${results}; n++) {
    const id = 'toolu_' + n
    const output = ('line ' + n + ' of the output\\n').padEnd(${resultBytes}, 'x')
    const call = { type: 'tool_use', id, name: 'Bash', input: { command: 'print ' + n } }
    print({ type: 'assistant', message: { id: 'msg_' + n, model: 'm', content: [call], usage } })
    const result = { type: 'tool_result', tool_use_id: id, content: output, is_error: false }
    print({ type: 'user', message: { role: 'user', content: [result] }, tool_use_result: { stdout: output } })
  }
  print({ type: 'assistant', message: { id: 'msg_end', model: 'm', content: [{ type: 'text', text: 'All read.' }], usage } })
  print({ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'All read.', usage })
}
`,
  )
  await chmod(command, 0o755)
  return command
}
