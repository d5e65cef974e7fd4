/** Sends follow-ups to their sessions when they are due. */
import type { CycleId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Apart, DueSource } from '../timetable/timetable.ts'
import { type FireDeps, fireFollowUp } from './fire.ts'

export type DueFollowUpsDeps = FireDeps & {
  store: Pick<Store, 'listDueFollowUps' | 'nextFollowUpAt' | 'listFollowUps'>
}

export interface DueFollowUpsHooks {
  /** Makes the timetable look at what is due. */
  wake: () => void
  /** Called when runs were queued. */
  wakeDispatcher: () => void
  /** Called when a follow-up of the cycle was sent or missed. */
  onCycle: (id: CycleId) => void
}

const AT_ONCE = 50

export class DueFollowUps implements DueSource {
  readonly #deps: DueFollowUpsDeps
  readonly #hooks: DueFollowUpsHooks
  /** There may be follow-ups that wait for a run to end. */
  #planned = true

  constructor(deps: DueFollowUpsDeps, hooks: DueFollowUpsHooks) {
    this.#deps = deps
    this.#hooks = hooks
  }

  notePlanned(): void {
    this.#planned = true
    this.#hooks.wake()
  }

  /** A run may have settled that follow-ups waited for. */
  noteRun(): void {
    if (this.#planned) this.#hooks.wake()
  }

  async seeTo(apart: Apart): Promise<Date | null> {
    const { store, clock } = this.#deps
    // Both queries use the same time. A follow-up that became due between two times would be found by neither query.
    const asOf = clock.now()
    await this.#fireAll(asOf, apart)
    this.#planned = (await store.listFollowUps({ limit: 1, state: 'planned' })).items.length > 0
    return store.nextFollowUpAt(asOf)
  }

  async #fireAll(asOf: Date, apart: Apart): Promise<void> {
    const { wake, wakeDispatcher, onCycle } = this.#hooks
    for (;;) {
      const due = await this.#deps.store.listDueFollowUps(asOf, AT_ONCE)
      const fired = await Promise.all(
        due.map((followUp) => apart({ followUp: followUp.id }, () => fireFollowUp(this.#deps, followUp))),
      )
      for (const { cycleId } of due) if (cycleId !== null) onCycle(cycleId)
      if (fired.includes(true)) wakeDispatcher()
      // The cycle may have waited only for the follow-up that was missed.
      if (fired.includes(false)) wake()
      if (due.length < AT_ONCE || fired.includes(null)) return
    }
  }
}
