/** The public interface of what is shown across all features. */
import type { ConversationId } from '../../contract/ids.ts'
import type { CostRow, Overview, TurnPlan } from '../../contract/overview.ts'

export interface OverviewEngine {
  readOverview: (since: Date | null) => Promise<Overview>
  listCosts: (period: { since: Date; until?: Date | undefined }) => Promise<CostRow[]>
  /** Says what would happen if a message were sent now. Changes nothing. */
  planTurn: (
    id: ConversationId,
    request: { agent?: string | undefined; forceFreshSession: boolean },
  ) => Promise<TurnPlan>
}
