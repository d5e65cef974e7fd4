/** The public interface of follow-ups. */
import type { CreateFollowUp, FollowUp, FollowUpState } from '../../contract/follow-up.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { CycleId, FollowUpId, RunId } from '../../contract/ids.ts'

export interface FollowUpEngine {
  createFollowUp: (request: CreateFollowUp, idempotencyKey?: string | null) => Promise<FollowUp>
  listFollowUps: (
    query: ListQuery & {
      state?: FollowUpState | undefined
      runId?: RunId | undefined
      cycleId?: CycleId | undefined
    },
  ) => Promise<Page<FollowUp>>
  getFollowUp: (id: FollowUpId) => Promise<FollowUp>
  /** Throws `conflict` if the follow-up is not planned any more. */
  cancelFollowUp: (id: FollowUpId) => Promise<FollowUp>
}
