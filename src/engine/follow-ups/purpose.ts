/** A follow-up that is a run of its own. Its prompt says that it is one; it draws on the budget of who planned it. */
import type { RunPurpose } from '../base/purpose.ts'

/** Asked last of all special purposes: a follow-up of a turn or at a tier is a turn or a tier. */
export function createFollowUpPurpose(plain: RunPurpose): RunPurpose {
  return { ...plain, name: 'follow-up', claims: ({ links }) => links.followUpId !== null }
}
