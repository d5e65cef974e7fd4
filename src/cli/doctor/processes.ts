/** Checks how processes that an agent starts are recognised, so that they end with its run. */
import { type Check, ok, warn } from './check.ts'

export function checkProcesses(markedByLimit: boolean): Check {
  return markedByLimit
    ? ok(
        'processes',
        'processes started by an agent end with its run; they are found by an inherited process limit',
      )
    : warn(
        'processes',
        'processes started by an agent are found only by a variable in their environment',
        'A process without that variable (`env -i …`) can outlive its run: /bin/sh cannot set the limit on file locks here.',
      )
}
