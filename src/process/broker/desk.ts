/**
 * The broker of one attempt: takes the requests of its shims, and has each call carried through (served-call.ts). Whatever has to
 * be known of a call is on disk (call-folder.ts), so that the next desk continues where this one stopped.
 *
 * Change notifications are only hints; the folder is also polled.
 */
import { type FSWatcher, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isAlive, type ProcessIdentity } from '../proc.ts'
import { watchQuietly } from '../watch.ts'
import {
  askedDir,
  isCallId,
  isWaiting,
  listRequests,
  readRequest,
  removeFifos,
  removeRequest,
  replyFailure,
  type ShimRequest,
  wake,
} from './asked-folder.ts'
import { CallFolder } from './call-folder.ts'
import { type CallContext, type Engine, REFUSED, ServedCall } from './served-call.ts'

const POLL_MS = 1000
/** Further requests wait until a call has ended. */
const MOST_CALLS = 256
/**
 * An agent may write large requests byte by byte. When so much of incomplete requests has been read since the last poll, nothing
 * more is read until the next.
 */
const MOST_BYTES_IN_VAIN = 16 << 20
const LEAST_COST = 16 << 10

export interface BrokerInput extends Engine {
  /** The folder that was given to installShims. */
  shared: string
  /** A folder that is hidden from the agent. It is created if it is missing. */
  private: string
  /** Process 1 of the sandbox, as seen from here (sandbox-root.ts). null: the sandbox has ended. */
  sandboxRootPid: () => Promise<number | null>
}

export interface Broker {
  /** Shims go on waiting, and programs go on running. */
  close: () => Promise<void>
}

export const openBroker = (input: BrokerInput): Broker => new Desk(input)

class Desk implements Broker {
  readonly #input: BrokerInput
  readonly #asked: string
  readonly #watcher: FSWatcher | null
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  readonly #context: CallContext
  readonly #calls = new Map<string, { gone: AbortController; over: Promise<void> }>()
  #bytesInVain = 0
  #root: ProcessIdentity | null = null

  constructor(input: BrokerInput) {
    this.#input = input
    this.#asked = askedDir(input.shared)
    this.#context = {
      engine: input,
      asked: this.#asked,
      findRoot: () => this.#findRoot(),
      closing: this.#closing.signal,
    }
    mkdirSync(input.private, { recursive: true, mode: 0o700 })
    for (const folder of CallFolder.openAll(input.private)) {
      // The earlier desk may have died before it removed the request.
      removeRequest(this.#asked, folder.id)
      this.#serve(folder)
    }
    this.#watcher = watchQuietly(this.#asked, (name) => {
      if (name === null) this.#lookAround()
      else if (isCallId(name) && this.#bytesInVain < MOST_BYTES_IN_VAIN) this.#look(name)
    })
    this.#timer = setInterval(() => this.#lookAround(), POLL_MS).unref()
    this.#lookAround()
  }

  async close(): Promise<void> {
    this.#watcher?.close()
    clearInterval(this.#timer)
    this.#closing.abort()
    await Promise.all([...this.#calls.values()].map(({ over }) => over))
  }

  #lookAround(): void {
    this.#bytesInVain = 0
    for (const id of listRequests(this.#asked)) if (this.#bytesInVain < MOST_BYTES_IN_VAIN) this.#look(id)
    for (const [id, { gone }] of this.#calls) {
      if (isWaiting(this.#asked, id)) wake(this.#asked, id)
      else gone.abort()
    }
  }

  #look(id: string): void {
    if (this.#calls.has(id) || this.#calls.size >= MOST_CALLS || this.#closing.signal.aborted) return
    const read = readRequest(this.#asked, id)
    if (read.kind === 'absent') return
    if (!isWaiting(this.#asked, id)) {
      removeRequest(this.#asked, id)
      removeFifos(this.#asked, id)
    } else if (read.kind === 'unreadable') {
      replyFailure(this.#asked, id, REFUSED, `not started: ${read.reason}`)
      removeRequest(this.#asked, id)
      removeFifos(this.#asked, id)
    } else if (read.kind === 'request') this.#take(id, read.request)
    else this.#bytesInVain += Math.max(read.bytes, LEAST_COST)
  }

  #take(id: string, request: ShimRequest): void {
    try {
      const folder = CallFolder.create(this.#input.private, id, request)
      if (folder === null) return
      if (removeRequest(this.#asked, id)) this.#serve(folder)
      // Another desk has taken it.
      else folder.remove()
    } catch {
      // The disk is full, for example. The request is still there and is tried again at the next poll.
      rmSync(join(this.#input.private, id), { recursive: true, force: true })
    }
  }

  #serve(folder: CallFolder): void {
    const gone = new AbortController()
    const over = new ServedCall(folder, this.#context, gone.signal)
      .carryThrough()
      // What could not be written or told now is left to the next desk.
      .catch(() => {})
      .finally(() => this.#calls.delete(folder.id))
    this.#calls.set(folder.id, { gone, over })
  }

  async #findRoot(): Promise<ProcessIdentity | null> {
    if (this.#root && isAlive(this.#root)) return this.#root
    const pid = await this.#input.sandboxRootPid()
    this.#root = pid === null ? null : identify(pid)
    return this.#root
  }
}
