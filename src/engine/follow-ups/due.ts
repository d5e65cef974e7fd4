/** Gives follow-ups to their sessions when they are due. */
import type { CycleId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Apart, DueSource } from '../timetable/timetable.ts'
import { type FireDeps, fireFollowUp } from './fire.ts'

export type DueFollowUpsDeps = FireDeps & {
  store: Pick<Store, 'listDueFollowUps' | 'nextFollowUpAt' | 'listFollowUps'>
}

export interface DueFollowUpsHooks {
  /** Looks at what is due, soon. */
  wake: () => void
  /** Runs have been queued. */
  wakeDispatcher: () => void
  /** A follow-up of the cycle has been given, or missed. */
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

  /** A follow-up was planned. */
  notePlanned(): void {
    this.#planned = true
    this.#hooks.wake()
  }

  /** A run may have settled, and follow-ups may have waited for that. */
  noteRun(): void {
    if (this.#planned) this.#hooks.wake()
  }

  async seeTo(apart: Apart): Promise<Date | null> {
    const { store, clock } = this.#deps
    // One moment for both questions: what becomes due between two would be found by neither.
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
      // What was missed may have been the last that its cycle waited for.
      if (fired.includes(false)) wake()
      if (due.length < AT_ONCE || fired.includes(null)) return
    }
  }
}
