/**
 * Tells the agent of an open cycle the events that came meanwhile (store/watches/take-events.ts has their states). Whichever
 * run of the cycle is at work next gets them: at once, or after an approval, a follow-up or a limit. If the cycle ends
 * first, the queued cycle that has them starts.
 */
import { createHash } from 'node:crypto'
import type { CycleId, RunId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { composeEventMessage } from '../../core/watch/prompt.ts'
import type { Store } from '../../store/store.ts'
import type { TakenEvent, WaitingEvent } from '../../store/watches/take-events.ts'
import type { MessageSource } from '../base/message-source.ts'
import type { Persist } from '../base/persist.ts'

export interface EventMessagesDeps {
  store: Pick<Store, 'getRun' | 'listWaitingEvents' | 'takeEvents'>
  persist: Persist
  clock: Clock
}

export function createEventMessages({ store, persist, clock }: EventMessagesDeps): MessageSource {
  const listFor = async (cycleId: CycleId | null): Promise<TakenEvent[]> =>
    cycleId === null ? [] : (await store.listWaitingEvents(cycleId)).map(toMessage)
  const cycleOf = async (runId: RunId) => (await store.getRun(runId))?.links.cycleId ?? null

  return {
    listUnread: async ({ links }) => (await listFor(links.cycleId)).map(({ message }) => message),
    markRead: async (attempt, ids) => {
      const cycleId = await cycleOf(attempt.runId)
      const taken = (await listFor(cycleId)).filter(({ message }) => ids.has(message.id))
      if (cycleId === null || taken.length === 0) return
      await persist(() => store.takeEvents(cycleId, attempt, taken, clock.now()))
    },
  }
}

const toMessage = ({ watch, cycle, event }: WaitingEvent): TakenEvent => {
  const byPerson = cycle.trigger === 'person'
  return {
    cycleId: cycle.id,
    fingerprint: event.fingerprint,
    message: {
      id: idOf(`${cycle.id} ${event.fingerprint}`),
      from: byPerson ? `a person who triggered the watch ${watch}` : `the hook of the watch ${watch}`,
      text: composeEventMessage({ reason: byPerson ? cycle.reason : null, event }),
    },
  }
}

/** A UUID that follows from the text, so that every daemon gives the event by the same id. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
