/** Which turn of which conversation a run is to answer. */
import type { ConversationId } from '../../contract/ids.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface Turn {
  conversationId: ConversationId
  turn: number
}

/** null: the run is no turn of a conversation. */
export function turnOf({ links: { conversationId, turn } }: Pick<RunRecord, 'links'>): Turn | null {
  return conversationId === null || turn === null ? null : { conversationId, turn }
}

export function requireTurn(run: Pick<RunRecord, 'id' | 'links'>): Turn {
  const turn = turnOf(run)
  if (turn === null) throw new Error(`run ${run.id} is no turn of a conversation`)
  return turn
}
