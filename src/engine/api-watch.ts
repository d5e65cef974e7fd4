/**
 * Follows how a running agent gets on with the model's API: that it is answered, that it is not and tries again, what it
 * is told about its limits. An agent that has tried for long enough is stopped; its run waits without it.
 */
import type { EventBody } from '../contract/events.ts'
import { decidePatience, type StopForApi } from '../core/obstacle/patience.ts'
import type { RunRecord } from '../store/records.ts'
import type { EngineParts } from './parts.ts'

export class ApiWatch {
  readonly #parts: EngineParts
  readonly #run: RunRecord
  /** The newest call to the model, and when its answer began. */
  #call: { messageId: string; at: Date } | null = null
  #failingSinceMs: number | null = null

  constructor(parts: EngineParts, run: RunRecord) {
    this.#parts = parts
    this.#run = run
  }

  /** Why the agent is to be stopped; null if it is not. */
  async note(event: EventBody, at: Date): Promise<StopForApi | null> {
    const { obstacles, clock, settings } = this.#parts
    switch (event.type) {
      case 'model-call':
        if (this.#call?.messageId !== event.messageId) {
          this.#call = { messageId: event.messageId, at }
          return null
        }
        // A call is named a second time when a whole piece of the answer has come: a stream that is cut off is no answer.
        this.#failingSinceMs = null
        await obstacles.noteAnswer(this.#run, this.#call.at)
        return null
      case 'turn-end':
        if (event.outcome.name === 'completed' && this.#call)
          await obstacles.noteAnswer(this.#run, this.#call.at)
        return null
      case 'rate-limit':
        await obstacles.noteQuota(this.#run, event)
        return null
      case 'retry-wait': {
        const nowMs = clock.monotonicMs()
        this.#failingSinceMs ??= nowMs
        return decidePatience({
          retry: event,
          triedForMs: nowMs - this.#failingSinceMs,
          holdMs: settings.jobs.holdMs,
          shortOfPatience: await obstacles.isShortOfPatience(this.#run),
        })
      }
      default:
        return null
    }
  }
}
