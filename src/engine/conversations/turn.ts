/** Which turn of which conversation a run answers. */
import type { ConversationId } from '../../contract/ids.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface Turn {
  conversationId: ConversationId
  turn: number
}

/** Returns null if the run is not a turn of a conversation. */
export function turnOf({ links: { conversationId, turn } }: Pick<RunRecord, 'links'>): Turn | null {
  return conversationId === null || turn === null ? null : { conversationId, turn }
}

export function requireTurn(run: Pick<RunRecord, 'id' | 'links'>): Turn {
  const turn = turnOf(run)
  if (turn === null) throw new Error(`run ${run.id} is not a turn of a conversation`)
  return turn
}
