/** Checks the form of an id before the daemon is asked or started. The daemon checks that it exists. */
import { InvalidArgumentError } from 'commander'

export function idArgument(prefix: string): (text: string) => string {
  const form = new RegExp(`^${prefix}_\\w+$`)
  return (text) => {
    if (!form.test(text)) throw new InvalidArgumentError(`expected an id such as ${prefix}_01J…`)
    return text
  }
}
