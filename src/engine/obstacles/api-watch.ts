/**
 * Follows how a running agent gets on with the model's API: that it is answered, that it is not and tries again, what it
 * is told about its limits. An agent that has tried for long enough is stopped; its run waits without it. Where nothing
 * has ever been answered, a request that hangs is told of too: it may be a wrong address. An agent that is silent because
 * its request is not answered is stopped as one that met an outage.
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

  /** Reads what the agent has said to a daemon before this one. */
  async catchUp(): Promise<void> {
    const { id, runId } = this.#attempt
    const query = { attemptId: id, types: REQUEST_EVENTS }
    await scanEvents(this.#deps.store, runId, query, ({ body }) => {
      this.#request = followRequest(this.#request, body)
    })
  }

  /** How long the agent may be silent, given what it is doing. */
  async idleTimeoutMs(): Promise<number> {
    const { obstacles, settings } = this.#deps
    if (!isUnanswered(this.#request)) return settings.idleTimeoutMs
    return answerTimeoutMs(settings.idleTimeoutMs, await obstacles.isShortOfPatience(this.#run))
  }

  /** What the agent is stopped for instead, if the model is to blame for what it is found to be too long at. */
  blameModel(cause: WatchCause, timeoutMs: number): StopForApi | null {
    return blameModel(cause, this.#request, timeoutMs)
  }

  /** Why the agent is to be stopped; null if it is not. */
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
    const tell = async () => {
      const text = `no answer from the model for ${ANSWERS_WITHIN_MS / 1000} s. ${setUp}`
      await persist(() => store.addEvents(this.#attempt, [{ type: 'note', text }], clock.now()))
      bus.publish(this.#run.id)
    }
    this.#unanswered = setTimeout(() => {
      tell().catch((error) => log.warn({ run: this.#run.id, error: String(error) }, 'could not tell'))
    }, ANSWERS_WITHIN_MS)
    this.#unanswered.unref()
  }
}

/** The model, or the CLI about it. */
const HEARD: ReadonlySet<EventBody['type']> = new Set(['model-call', 'retry-wait', 'turn-end'])
