/** Which tool calls count as the same when a person has allowed one for the rest of the session. */
import type { EventOf } from '../../contract/events.ts'

/**
 * The same command in the same directory; otherwise the same tool on the same files; otherwise the same input. Texts
 * such as the description of a command are the agent's own words and do not matter.
 */
export function nameOfCall(ask: EventOf<'permission-ask'>): string {
  const { tool, command, paths, input, workDir = null } = ask
  if (command !== undefined) return JSON.stringify([tool, 'command', command, workDir])
  if (paths !== undefined && paths.length > 0) return JSON.stringify([tool, 'paths', paths, workDir])
  return JSON.stringify([tool, 'input', input, workDir])
}
