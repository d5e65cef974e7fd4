/**
 * Observes the requests of a running agent to the model's API: answers, retries, and reported limits. An agent that has
 * retried for long enough is stopped, and its run waits without a process. An agent that is silent because its request
 * is not answered is stopped with the cause outage. If this address has never answered, a request that hangs is noted
 * in the run's events, because the address may be wrong.
 */
import type { EventBody } from '../../contract/events.ts'
import type { Clock } from '../../core/clock.ts'
import {
  answerTimeoutMs,
  blameModel,
  followRequest,
  isUnanswered,
  NO_REQUEST,
  REQUEST_EVENTS,
} from '../../core/obstacle/open-request.ts'
import { decidePatience, type StopForApi } from '../../core/obstacle/patience.ts'
import type { WatchCause } from '../../core/watchdog.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { JobSettings } from '../base/settings.ts'
import type { Obstacles } from './obstacles.ts'

const ANSWERS_WITHIN_MS = 10_000

export interface ApiWatchDeps {
  store: Pick<Store, 'listEvents' | 'addEvents'>
  obstacles: Pick<Obstacles, 'noteAnswer' | 'noteQuota' | 'isShortOfPatience' | 'findSetUpDoubt'>
  clock: Pick<Clock, 'now' | 'monotonicMs'>
  bus: Pick<ProgressBus, 'publish'>
  log: Log
  persist: Persist
  settings: { idleTimeoutMs: number; jobs: Pick<JobSettings, 'holdMs'> }
}

export class ApiWatch {
  readonly #deps: ApiWatchDeps
  readonly #run: RunRecord
  readonly #attempt: AttemptRecord
  /** The newest call to the model, and when its answer began. */
  #call: { messageId: string; at: Date } | null = null
  #failingSinceMs: number | null = null
  #request = NO_REQUEST
  #unanswered: NodeJS.Timeout | undefined

  constructor(deps: ApiWatchDeps, { run, attempt }: { run: RunRecord; attempt: AttemptRecord }) {
    this.#deps = deps
    this.#run = run
    this.#attempt = attempt
  }

  close(): void {
    clearTimeout(this.#unanswered)
  }

  /** Reads the events that an earlier daemon stored. */
  async catchUp(): Promise<void> {
    const { id, runId } = this.#attempt
    const query = { attemptId: id, types: REQUEST_EVENTS }
    await scanEvents(this.#deps.store, runId, query, ({ body }) => {
      this.#request = followRequest(this.#request, body)
    })
  }

  /** How long the agent may be silent in its current state. */
  async idleTimeoutMs(): Promise<number> {
    const { obstacles, settings } = this.#deps
    if (!isUnanswered(this.#request)) return settings.idleTimeoutMs
    return answerTimeoutMs(settings.idleTimeoutMs, await obstacles.isShortOfPatience(this.#run))
  }

  /** The stop cause to use instead of a timeout, if the agent is only waiting for the model; otherwise null. */
  blameModel(cause: WatchCause, timeoutMs: number): StopForApi | null {
    return blameModel(cause, this.#request, timeoutMs)
  }

  /** Returns why the agent must be stopped, or null. */
  async note(event: EventBody, at: Date): Promise<StopForApi | null> {
    const { obstacles, clock, settings } = this.#deps
    this.#request = followRequest(this.#request, event)
    if (HEARD.has(event.type)) this.close()
    switch (event.type) {
      case 'prompt-accept':
        await this.#expectAnswer()
        return null
      case 'model-call':
        if (this.#call?.messageId !== event.messageId) {
          this.#call = { messageId: event.messageId, at }
          return null
        }
        // The second event of a call means that a complete part of the answer has arrived. A stream that was cut off
        // does not count as an answer.
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
          fewRetries: await obstacles.isShortOfPatience(this.#run),
        })
      }
      default:
        return null
    }
  }

  async #expectAnswer(): Promise<void> {
    const { obstacles, store, clock, bus, log, persist } = this.#deps
    const setUp = await obstacles.findSetUpDoubt(this.#run)
    if (setUp === null) return
    this.close()
    const addNote = async () => {
      const text = `no answer from the model for ${ANSWERS_WITHIN_MS / 1000} s. ${setUp}`
      await persist(() => store.addEvents(this.#attempt, [{ type: 'note', text }], clock.now()))
      bus.publish(this.#run.id)
    }
    this.#unanswered = setTimeout(() => {
      addNote().catch((error) =>
        log.warn({ run: this.#run.id, error: String(error) }, 'could not store the note'),
      )
    }, ANSWERS_WITHIN_MS)
    this.#unanswered.unref()
  }
}

/** Events which show that the model or the CLI reacted to the request. */
const HEARD: ReadonlySet<EventBody['type']> = new Set(['model-call', 'retry-wait', 'turn-end'])
