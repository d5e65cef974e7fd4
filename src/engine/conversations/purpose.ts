/** A turn of a conversation: its history is the conversation, and its answer is stored there. */
import { MessageId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Store } from '../../store/store.ts'
import type { Persist } from '../base/persist.ts'
import type { RunPurpose } from '../base/purpose.ts'
import { readTurnContext, type TurnStore } from './context.ts'
import { readTurnEnding } from './ending.ts'
import { requireTurn, turnOf } from './turn.ts'

export interface TurnPurposeDeps {
  store: TurnStore & Pick<Store, 'takeInOutside' | 'listQuestions' | 'effects'>
  clock: Clock
  redactor: Redactor
  persist: Persist
}

export function createTurnPurpose(deps: TurnPurposeDeps, plain: RunPurpose): RunPurpose {
  const { store, clock, persist } = deps
  return {
    ...plain,
    name: 'turn',
    claims: (run) => turnOf(run) !== null,

    readContext: (run) => readTurnContext(store, run, requireTurn(run)),

    takeIn: (run, { session, turns }) => {
      const { conversationId, turn } = requireTurn(run)
      const conversation = { id: conversationId, turn }
      return persist(() => store.takeInOutside({ session, conversation, turns, at: clock.now() }))
    },

    readEnding: async ({ run, settled, attempt }) => {
      const turn = await readTurnEnding(deps, { run, settled, ...(attempt ?? NOTHING_LEFT) })
      return turn ? [store.effects.endTurn(turn)] : []
    },

    keepsWarm: true,
    // The turn must end so that the person gets the answer. A follow-up becomes a turn of its own.
    keepsProcess: () => false,
    laterRun: async (before, later) => {
      const { conversationId } = requireTurn(before)
      if (!(await store.getConversation(conversationId))) throw new Error('its conversation has been deleted')
      const as = await plain.laterRun(before, later)
      if (!('run' in as)) return as
      const run = { ...as.run, sessionId: null }
      const turn = { messageId: MessageId.create(later.at), conversationId, run }
      return { admission: store.effects.admitTurn(turn) }
    },
  }
}

const NOTHING_LEFT = { took: null, informed: true }
