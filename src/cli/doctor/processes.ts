/** By what the processes that an agent starts are recognised, so that they end with its run. */
import { type Check, ok, warn } from './check.ts'

export function checkProcesses(markedByLimit: boolean): Check {
  return markedByLimit
    ? ok(
        'processes',
        'what an agent starts ends with its run: it is found by a process limit that it inherits',
      )
    : warn(
        'processes',
        'what an agent starts is found by a variable in its environment only',
        'A process without that variable (`env -i …`) can outlive its run: /bin/sh cannot set the limit on file locks here.',
      )
}
