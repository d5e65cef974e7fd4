/** Whether a command that is started elsewhere, in a container or on another host, only looks there. */
import { redirectedTo } from './changes.ts'
import { isSteering, onlyLooks } from './looking.ts'
import { readArguments, readShell } from './read.ts'
import type { ShellReading } from './reading.ts'

/** Read both as an argument list and as a text for a shell, since it depends on the program which of them it is. */
export function innerLooks(argv: readonly string[]): boolean {
  return readingLooks(readArguments(argv)) && readingLooks(readShell(argv.join(' ')))
}

/** Everything is written out, only looks and writes no file. */
export function readingLooks({ commands, unclear }: ShellReading): boolean {
  return (
    unclear.length === 0 &&
    commands.every(
      (command) =>
        onlyLooks(command) && redirectedTo(command).length === 0 && !command.assignments.some(isSteering),
    )
  )
}
