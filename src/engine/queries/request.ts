/** The options that the caller of a query chose for the agent, stored with its run. */
import type { AgentOptions } from '../../agents/adapter.ts'
import type { RunRecord, RunRequest } from '../../store/runs/records.ts'

const NAME = 'query'

export interface QueryRequest {
  options: AgentOptions
}

export const markQuery = (data: QueryRequest): NonNullable<RunRequest['purpose']> => ({ name: NAME, data })

/** null: the run is not a query. */
export function queryOf({ request: { purpose } }: Pick<RunRecord, 'request'>): QueryRequest | null {
  return purpose?.name === NAME ? (purpose.data as QueryRequest) : null
}
