/**
 * Keeps a process that has ended its turn for a follow-up that is due soon. This pays for short waits only: resuming
 * the session costs a new process, waiting costs the memory of this one.
 *
 * nothing to wait for → waiting until it is due → given, until the agent has accepted it → (its turn) → checked again.
 * A daemon that adopts the process reaches the same state: planned follow-ups are in the store, and the agent accepts a
 * message with the same id only once.
 */
import type { Addressee } from '../../agents/adapter.ts'
import type { EventOf } from '../../contract/events.ts'
import type { FollowUpId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { splitAsides } from '../../core/prompt/parts.ts'
import { composeReminder } from '../../core/prompt/reminder.ts'
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import type { Store } from '../../store/store.ts'
import type { Held, HeldProcess, Hold } from '../base/next-prompts.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { ProgressBus } from '../base/progress.ts'
import { type ForgottenDeps, readForgotten } from '../base/reminder.ts'
import type { FollowUpSettings } from '../base/settings.ts'

export interface HoldDeps extends ForgottenDeps {
  store: Pick<
    Store,
    'listPlannedOfRun' | 'getRun' | 'noteGiven' | 'getSession' | 'addEvents' | 'listRunMessages'
  >
  clock: Clock
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
  processes: Pick<Processes, 'deliver'>
  settings: { followUps: FollowUpSettings }
}

export class FollowUpHold implements Hold {
  readonly #deps: HoldDeps
  readonly #in: HeldProcess & { addressee: Addressee }
  /** The run may have planned follow-ups. Few runs do, so the store is queried only for these. */
  #mayHave: boolean
  #told: string | null = null

  constructor(deps: HoldDeps, input: HeldProcess & { addressee: Addressee }) {
    this.#deps = deps
    this.#in = input
    this.#mayHave = input.attempt.process !== null
  }

  notePlanned(): void {
    this.#mayHave = true
  }

  /** A follow-up has a turn of its own. */
  async give(): Promise<void> {}

  async look(end: EventOf<'turn-end'> | null): Promise<Held> {
    const { run, attempt, adapter, dir, addressee } = this.#in
    const { store, clock, settings, purposes, persist, processes } = this.#deps
    if (!this.#mayHave || attempt.kind !== 'turn' || end?.outcome.name !== 'completed') return null
    if (!purposes.of(run).keepsProcess(run, end)) return null
    const [first] = await store.listPlannedOfRun(run.id)
    const now = clock.now()
    const { holdMs } = settings.followUps
    // With a hold of 0 every follow-up becomes a run of its own, even one that is overdue when the turn ends.
    if (!first || holdMs === 0 || first.dueAt.getTime() - now.getTime() > holdMs) return null
    if (first.dueAt > now) {
      await this.#tell(first.id, first.dueAt)
      return first.dueAt
    }
    if ((await store.getRun(run.id))?.cancelRequested) return null
    const texts = [
      ...(await this.#retold(first.id)),
      ...splitAsides(composeFollowUpPrompt({ ...first, now })),
    ]
    await persist(() => store.noteGiven(attempt.sessionId, first.messageId))
    await persist(() => processes.deliver(dir, adapter.prompt(first.messageId, texts, addressee)))
    return 'given'
  }

  /** The standing texts of the session, repeated if the session was compacted. */
  async #retold(followUpId: FollowUpId): Promise<string[]> {
    const { run, attempt } = this.#in
    const session = await this.#deps.store.getSession(attempt.sessionId)
    if (!session?.compacted) return []
    const due = { ...run, links: { ...run.links, followUpId } }
    const { texts, said } = await readForgotten(this.#deps, due, session.agentSessionId)
    return composeReminder(texts, run.prompt, said)
  }

  async #tell(id: string, dueAt: Date): Promise<void> {
    if (this.#told === id) return
    this.#told = id
    const { attempt } = this.#in
    const { store, clock, bus, persist } = this.#deps
    const text = `the process is kept for follow-up ${id}, due at ${dueAt.toISOString()}`
    await persist(() => store.addEvents(attempt, [{ type: 'note', text }], clock.now()))
    bus.publish(attempt.runId)
  }
}
