/**
 * A follow-up as a run of its own. Its prompt says that it is a follow-up; it uses the budget of the run that planned
 * it.
 */
import type { RunPurpose } from '../base/purpose.ts'

/** Must be asked after the other special purposes: a follow-up of a turn or at a tier is a turn or a tier. */
export function createFollowUpPurpose(plain: RunPurpose): RunPurpose {
  return { ...plain, name: 'follow-up', claims: ({ links }) => links.followUpId !== null }
}
