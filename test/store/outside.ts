/** Messages exchanged in sessions outside Reprise: imported once, before the turn that found them. */
import { describe, expect, it } from 'vitest'
import { ConversationId, MessageId, SessionId } from '../../src/contract/ids.ts'
import type { OutsideTurn } from '../../src/core/history/outside.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import type { NewSession } from '../../src/store/runs/session-records.ts'
import type { Store } from '../../src/store/store.ts'
import { at, ending, newAttempt, newRun, newSession, startAttempt, T0 } from './records.ts'

export function describeOutside(open: () => Promise<Store>): void {
  const outside = (id: string, inSession = true): OutsideTurn => ({
    id,
    text: `asked ${id}`,
    answer: [{ type: 'text', text: `answered ${id}` }],
    saidAt: at(20),
    inSession,
  })

  async function talk(store: Store) {
    const { id } = await store.createConversation({
      id: ConversationId.create(T0),
      title: 't',
      agent: 'claude',
      workDir: '/w',
      instructions: null,
      historyScope: 'shared',
      createdAt: T0,
    })
    const ask = async (prompt: string): Promise<RunRecord> => {
      const messageId = MessageId.create(T0)
      return (await store.admitTurn({ messageId, conversationId: id, run: newRun({ prompt }) })).run
    }
    const first = await ask('one')
    const session = newSession()
    const attempt = await startAttempt(store, {
      attempt: newAttempt(first, session, { epoch: 0 }),
      newSession: session,
      events: () => [],
    })
    await store.endAttempt(
      ending(attempt!, {
        effects: [
          store.effects.endTurn({
            conversationId: id,
            turn: 1,
            agent: 'claude',
            runId: first.id,
            goesOn: false,
            answer: {
              id: MessageId.create(T0),
              blocks: [{ type: 'text', text: 'first' }],
              state: 'complete',
            },
            pin: { sessionId: session.id, sessionEpoch: 0 },
          }),
        ],
      }),
    )
    const messages = async () =>
      (await store.listMessages(id)).map(({ turn, role, origin }) => `${turn} ${role} ${origin}`)
    return { id, ask, session, first, messages }
  }

  const takeIn = (
    store: Store,
    id: ConversationId,
    session: NewSession,
    turn: number,
    ...turns: OutsideTurn[]
  ) => store.takeInOutside({ session, conversation: { id, turn }, turns, at: at(30) })

  describe('turns from outside', () => {
    it('come before the turn that found them; that one, and those after it, are renumbered', async () => {
      const store = await open()
      const { id, ask, session, messages } = await talk(store)
      const [second, third] = [await ask('two'), await ask('three')]
      const before = await store.getConversation(id)
      await takeIn(store, id, session, 2, outside('x'), outside('y', false))
      await takeIn(store, id, session, 4, outside('x'))
      expect(await messages()).toEqual([
        '1 user reprise',
        '1 assistant reprise',
        '2 user outside',
        '2 assistant outside',
        '3 user outside-branch',
        '3 assistant outside-branch',
        '4 user reprise',
        '5 user reprise',
      ])
      const turns = [await store.getRun(second.id), await store.getRun(third.id)]
      expect(turns.map((run) => run?.links.turn)).toEqual([4, 5])
      expect(await store.getConversation(id)).toMatchObject({ turnCount: 5, revision: before!.revision + 1 })
      expect(await store.getPin(id, 'claude')).toMatchObject({ seenTurn: 1, sinceTurn: 1, epoch: 0 })
      expect((await store.listOutsideTurns(session.id)).map((t) => t.id)).toEqual(['x', 'y'])
    })

    it('are known to their session: changing them changes what it was given', async () => {
      const store = await open()
      const { id, ask, session } = await talk(store)
      await ask('two')
      await takeIn(store, id, session, 2, outside('x'))
      const message = (await store.listMessages(id)).find((m) => m.origin === 'outside')
      await store.editMessage(id, message!.id, 'otherwise', at(40))
      expect(await store.getPin(id, 'claude')).toMatchObject({ epoch: 1 })
    })

    it('are distinguished from our prompts, also in a kept process', async () => {
      const store = await open()
      const { session, first } = await talk(store)
      expect(await store.listOwnPrompts(session.id)).toEqual([first.promptId])
      for (const id of ['x', 'y', 'x']) await store.noteGiven(session.id, id)
      expect((await store.listOwnPrompts(session.id)).toSorted()).toEqual(
        [first.promptId, 'x', 'y'].toSorted(),
      )
      expect(await store.listOwnPrompts(SessionId.create(T0))).toEqual([])
    })

    it('are stored by session if there is no conversation, and an answer may be missing', async () => {
      const store = await open()
      const { session } = await talk(store)
      const turns = [{ ...outside('x'), answer: [], saidAt: null }]
      await store.takeInOutside({ session, conversation: null, turns, at: at(30) })
      expect(await store.listOutsideTurns(session.id)).toEqual([
        { id: 'x', text: 'asked x', answer: [], saidAt: at(30), inSession: true },
      ])
    })
  })
}
