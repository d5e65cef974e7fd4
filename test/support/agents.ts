/** Executables that stand in front of the real CLI. */
import { existsSync, readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { World } from './world.ts'

const REAL = resolve(import.meta.dirname, '../../node_modules/.bin/claude')

export interface LoggingAgent {
  command: string
  /** The arguments of each start for a turn, oldest first. */
  starts: () => string[][]
  /** The last start's flag that resumes, if it had one. */
  resumed: () => string | undefined
}

/** The real CLI, whose arguments are written down. `help` is a sed script applied to its --help. */
export async function loggingAgent(world: World, name = 'claude', help = ''): Promise<LoggingAgent> {
  const command = join(world.dir, `${name}-logged`)
  const log = join(world.dir, `${name}.argv`)
  await writeFile(
    command,
    `#!/bin/sh
case $1 in
  --help) "${REAL}" --help | sed '${help}'; exit ;;
  -p) for arg in "$@"; do printf '%s\\t' "$arg"; done >>"${log}"; echo >>"${log}" ;;
esac
exec "${REAL}" "$@"
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
  }
}
