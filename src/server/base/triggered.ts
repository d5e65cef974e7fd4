import type { Triggered } from '../../contract/watch.ts'

/** Whether the event leads to a cycle (202), or is known or resolved already (200). */
export function isNews({ result }: Triggered): boolean {
  return result !== 'known' && result !== 'resolved'
}
