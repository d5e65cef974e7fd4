/**
 * Gives the messages for a run to its process: in the middle of the turn if the agent takes them there, otherwise when the
 * turn has ended. The process is kept until it has taken them all. That holds for a turn that failed, too, if the agent
 * takes messages in the middle of a turn: it may have queued one, and then starts a turn with it by itself. To end the
 * process in that turn would lose the message's answer and the tokens of the call that was under way.
 *
 * stored → given (perhaps by several daemons; the process gets it once, by its id) → the agent reports that it took it.
 */
import type { Addressee } from '../../agents/adapter.ts'
import type { EventOf } from '../../contract/events.ts'
import { composeSaid } from '../../core/prompt/said.ts'
import type { Store } from '../../store/store.ts'
import type { MessageSource, MessageToGive } from '../base/message-source.ts'
import type { Held, HeldProcess, Hold } from '../base/next-prompts.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'

export interface MessageHoldDeps {
  store: Pick<Store, 'noteGiven' | 'getRun'>
  persist: Persist
  processes: Pick<Processes, 'deliver'>
}

export class MessageHold implements Hold {
  readonly #deps: MessageHoldDeps
  readonly #sources: readonly MessageSource[]
  readonly #in: HeldProcess & { addressee: Addressee }
  /** Decides about the process when no message waits. */
  readonly #otherwise: Hold
  readonly #given = new Set<string>()
  #mayHave = true

  constructor(
    deps: MessageHoldDeps,
    sources: readonly MessageSource[],
    input: HeldProcess & { addressee: Addressee },
    otherwise: Hold,
  ) {
    this.#deps = deps
    this.#sources = sources
    this.#in = input
    this.#otherwise = otherwise
  }

  notePlanned(): void {
    this.#mayHave = true
    this.#otherwise.notePlanned()
  }

  async give(): Promise<void> {
    if (this.#in.adapter.takesMessages) await this.#giveAll()
  }

  async look(end: EventOf<'turn-end'> | null): Promise<Held> {
    const mayTake = end?.outcome.name === 'completed' || this.#in.adapter.takesMessages === true
    if (mayTake && (await this.#giveAll())) return 'given'
    return this.#otherwise.look(end)
  }

  /** Returns whether the agent still has to take one. */
  async #giveAll(): Promise<boolean> {
    const { run, attempt, adapter, dir, addressee } = this.#in
    const { store, persist, processes } = this.#deps
    if (!this.#mayHave || attempt.kind !== 'turn') return false
    this.#mayHave = false
    const unread: MessageToGive[] = []
    for (const source of this.#sources) unread.push(...(await source.listUnread(run, attempt.sessionId)))
    if (unread.length === 0 || (await store.getRun(run.id))?.cancelRequested) return false
    this.#mayHave = true
    for (const message of unread) {
      if (this.#given.has(message.id)) continue
      const line = adapter.prompt(message.id, [composeSaid(message)], addressee)
      await persist(() => store.noteGiven(attempt.sessionId, message.id))
      await persist(() => processes.deliver(dir, line))
      this.#given.add(message.id)
    }
    return true
  }
}
