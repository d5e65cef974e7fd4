/** What an ended run leaves in its conversation: the answer, and the session to continue in. */

import type { Tx } from '../base/transaction.ts'
import type { TurnEnding } from './records.ts'

/** Stores the answer and the pin, unless the question was deleted or is being asked again. */
export async function endTurn(tx: Tx, ending: TurnEnding, at: Date): Promise<void> {
  const { conversationId, turn, agent, runId, answer, pin } = ending
  const question = await tx
    .selectFrom('messages')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .where('turn', '=', turn)
    .where('role', '=', 'user')
    .where('run_id', '=', runId)
    .executeTakeFirst()
  if (!question) return
  if (ending.goesOn) {
    // A session that was pinned before has received the question now: it must not be given it again.
    await tx
      .updateTable('pins')
      .set({ seen_turn: turn })
      .where('conversation_id', '=', conversationId)
      .where('agent', '=', agent)
      .where('session_id', '=', pin?.sessionId ?? null)
      .execute()
    return
  }
  if (answer) {
    await tx
      .insertInto('messages')
      .values({
        id: answer.id,
        conversation_id: conversationId,
        turn,
        role: 'assistant',
        agent,
        blocks: JSON.stringify(answer.blocks),
        state: answer.state,
        revision: 1,
        run_id: runId,
        origin: null,
        created_at: at.getTime(),
        edited_at: null,
      })
      .execute()
    await tx
      .updateTable('conversations')
      .set({ updated_at: at.getTime() })
      .where('id', '=', conversationId)
      .execute()
  }
  if (pin) {
    await tx
      .updateTable('pins')
      .set((eb) => ({
        since_turn: eb
          .case()
          .when('session_id', '=', pin.sessionId)
          .then(eb.ref('since_turn'))
          .else(turn)
          .end(),
        session_id: pin.sessionId,
        session_epoch: pin.sessionEpoch,
        seen_turn: turn,
      }))
      .where('conversation_id', '=', conversationId)
      .where('agent', '=', agent)
      .execute()
  }
}
