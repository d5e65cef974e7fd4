import type { Triggered } from '../../contract/watch.ts'

/** Whether something will be done about it (202) or nothing has to be (200). */
export function isNews({ result }: Triggered): boolean {
  return result !== 'known' && result !== 'resolved'
}
