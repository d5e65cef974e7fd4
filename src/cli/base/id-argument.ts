/** Catches a slip before the daemon is asked, or even started; the daemon checks ids in full. */
import { InvalidArgumentError } from 'commander'

export function idArgument(prefix: string): (text: string) => string {
  const form = new RegExp(`^${prefix}_\\w+$`)
  return (text) => {
    if (!form.test(text)) throw new InvalidArgumentError(`Expected an id like ${prefix}_01J….`)
    return text
  }
}
