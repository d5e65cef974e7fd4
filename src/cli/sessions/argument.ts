/** Parses the id of a session: Reprise's own or the agent's. */
import { usageError } from '../base/usage-error.ts'

export function sessionArgument(id: string): string {
  // Other characters would change the path of the URL.
  if (!/^\w[\w.:-]*$/.test(id)) throw usageError(`${JSON.stringify(id)} is not the id of a session`)
  return id
}
