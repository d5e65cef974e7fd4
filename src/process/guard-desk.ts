/**
 * Answers the questions of one attempt's guards (guard.sh). The questions are files: when this desk is closed or dies,
 * they wait for the next one. When a guard is killed, its files are removed.
 *
 * Change notifications are only hints; the folder is also polled every `POLL_MS`.
 */
import { type FSWatcher, readdirSync } from 'node:fs'
import {
  askedDir,
  type GuardAnswer,
  type GuardRequest,
  isRequestName,
  isWaiting,
  readRequest,
  removeRequest,
  reply,
  requestOfReply,
} from './guard-request.ts'
import { watchQuietly } from './watch.ts'

const POLL_MS = 1000
/** After so many polls, a reply file without a question is taken to be left by a guard that died. */
const PATIENCE = 30

export interface GuardDeskInput {
  /** The same `dir` that was given to installGuards. */
  dir: string
  /**
   * Called once for each request; several calls may run at a time. If it fails, the request is denied. The signal is
   * aborted when the answer is no longer needed: the guard has ended, or the desk was closed.
   */
  decide: (request: GuardRequest, signal: AbortSignal) => Promise<GuardAnswer>
  /**
   * Called when the guard has received the answer. Without this the program was not started, whatever was decided. Must
   * not throw.
   */
  onDelivered?: (request: GuardRequest, answer: GuardAnswer) => void
}

export class GuardDesk {
  readonly #input: GuardDeskInput
  readonly #asked: string
  readonly #watcher: FSWatcher | null
  readonly #timer: NodeJS.Timeout
  readonly #undecided = new Map<string, AbortController>()
  /** Reply files without a question, and how many polls have seen them. */
  #lonely: ReadonlyMap<string, number> = new Map()

  constructor(input: GuardDeskInput) {
    this.#input = input
    this.#asked = askedDir(input.dir)
    this.#watcher = watchQuietly(this.#asked, (name) => {
      if (name === null) this.#lookAround()
      else if (isRequestName(name)) this.#look(name)
    })
    this.#timer = setInterval(() => this.#lookAround(), POLL_MS).unref()
    this.#lookAround()
  }

  /** Guards that are waiting continue to wait for the next desk. */
  close(): void {
    this.#watcher?.close()
    clearInterval(this.#timer)
    for (const controller of this.#undecided.values()) controller.abort()
    this.#undecided.clear()
  }

  #lookAround(): void {
    const names = listQuietly(this.#asked)
    for (const name of names) if (isRequestName(name)) this.#look(name)
    this.#dropLonely(names)
    for (const [id, controller] of this.#undecided) {
      if (isWaiting(this.#asked, id)) continue
      controller.abort()
      this.#forget(id)
    }
  }

  #look(id: string): void {
    if (this.#undecided.has(id)) return
    const read = readRequest(this.#asked, id)
    if (read.kind === 'absent') return
    if (!isWaiting(this.#asked, id)) this.#forget(id)
    else if (read.kind === 'request') void this.#serve(read.request)
    else if (read.kind === 'unreadable') {
      reply(this.#asked, id, deny('the request cannot be read'))
      this.#forget(id)
    }
  }

  async #serve(request: GuardRequest): Promise<void> {
    const controller = new AbortController()
    this.#undecided.set(request.id, controller)
    const answer = await this.#decide(request, controller.signal)
    if (controller.signal.aborted) return
    const delivered = reply(this.#asked, request.id, answer)
    this.#forget(request.id)
    if (delivered) this.#input.onDelivered?.(request, answer)
  }

  async #decide(request: GuardRequest, signal: AbortSignal): Promise<GuardAnswer> {
    try {
      return await this.#input.decide(request, signal)
    } catch (error) {
      return deny(`Reprise could not decide (${error instanceof Error ? error.message : String(error)})`)
    }
  }

  #forget(id: string): void {
    this.#undecided.delete(id)
    removeRequest(this.#asked, id)
  }

  /** A guard that is killed before it has asked leaves its reply file behind. */
  #dropLonely(names: readonly string[]): void {
    const lonely = new Map<string, number>()
    for (const name of names) {
      const id = requestOfReply(name)
      if (id === null || names.includes(id) || isWaiting(this.#asked, id)) continue
      const seen = (this.#lonely.get(id) ?? 0) + 1
      if (seen < PATIENCE) lonely.set(id, seen)
      else removeRequest(this.#asked, id)
    }
    this.#lonely = lonely
  }
}

const deny = (reason: string): GuardAnswer => ({ decision: 'deny', reason })

function listQuietly(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
