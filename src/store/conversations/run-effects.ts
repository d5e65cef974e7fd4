/**
 * The listener by which conversations follow changes of runs, and the effects that a change of a run may have on its
 * conversation.
 */
import { NotNow } from '../base/errors.ts'
import type { RunEffect, RunListener } from '../base/transaction.ts'
import type { RunAdmission } from '../runs/records.ts'
import { endTurn } from './end-turn.ts'
import type { TurnEnding } from './records.ts'
import { admitTurn, type NewTurn } from './turns.ts'

/** The conversation may have been moved while a run worked: the next attempt works in the new directory. */
export const conversationListener: RunListener = {
  changed: async (tx, { id, state, conversationId }) => {
    if (state !== 'queued' || conversationId === null) return
    await tx
      .updateTable('runs')
      .set((eb) => ({
        work_dir: eb.fn.coalesce(
          eb.selectFrom('conversations').select('work_dir').where('conversations.id', '=', conversationId),
          'work_dir',
        ),
      }))
      .where('id', '=', id)
      .execute()
  },
}

export interface ConversationEffects {
  /** Stores what an ended turn leaves in its conversation. */
  endTurn: (ending: TurnEnding) => RunEffect
  /** For `startAttempt`: fails if the conversation has changed since the attempt was prepared. */
  ifUnchanged: (revision: number) => RunEffect
  /** For `fireFollowUp`: the run answers a turn of a conversation. */
  admitTurn: (turn: NewTurn) => RunAdmission
}

export const conversationEffects: ConversationEffects = {
  admitTurn: (turn) => ({ runId: turn.run.id, admit: async (tx) => (await admitTurn(tx, turn)).run }),
  endTurn:
    (ending) =>
    (tx, { at }) =>
      endTurn(tx, ending, at),
  ifUnchanged:
    (revision) =>
    async (tx, { conversationId }) => {
      if (conversationId === null) return
      const moved = await tx
        .selectFrom('conversations')
        .select('id')
        .where('id', '=', conversationId)
        .where('revision', '<>', revision)
        .executeTakeFirst()
      if (moved) throw new NotNow(`conversation ${conversationId} has changed`)
    },
}
