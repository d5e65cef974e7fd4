/**
 * The broker of one attempt: takes the requests of its shims, has them decided, starts the real programs, and tells how they
 * ended. Whatever it has to know is on disk (call-folder.ts), so that the next desk continues where this one stopped.
 *
 * States of a call, each found from what is on disk:
 *   asked       The request is in the shared folder. It is copied and removed there.
 *   undecided   `decide` has been asked, or will be by the next desk. If the caller dies, the call is over.
 *   denied      The shim is told, then the engine.
 *   allowed     A runner is started, unless the caller is gone.
 *   claimed     The runner runs the program, exactly once, and tells the shim the exit code itself. If the runner dies
 *               without an exit code, what it left is ended, and the shim is told that the outcome is unknown.
 *   ended       The engine is told. Then the folder is removed.
 *
 * Invariants: a program is started only after its verdict is on disk, and only by the one who created the claim. A desk that
 * says that a program was not started has created the claim itself. Two desks at a time do no harm.
 *
 * Change notifications are only hints; the folder is also polled.
 */
import { type FSWatcher, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
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
  replyExit,
  replyFailure,
  type ShimRequest,
} from './asked-folder.ts'
import type { BrokerCall, BrokerEvent, CallEnd, Verdict } from './call.ts'
import { CallFolder } from './call-folder.ts'
import { endSession } from './end-calls.ts'
import { type Runner, startRunner } from './runner.ts'

const POLL_MS = 1000
/** Further requests wait until a call has ended. */
const MOST_CALLS = 256
/** A claim that is still empty after so long was left by a runner that died while writing it. */
const CLAIM_MS = 5000
const TERM_MS = 5000

const REFUSED = 126
const UNKNOWN = 125

export interface BrokerInput {
  /** The folder that was given to installShims. */
  shared: string
  /** A folder that is hidden from the agent. It is created if it is missing. */
  private: string
  /** The absolute path of each brokered program. */
  programs: ReadonlyMap<string, string>
  /** Process 1 of the sandbox, as seen from here (sandbox-root.ts). null: the sandbox has ended. */
  sandboxRootPid: () => Promise<number | null>
  /**
   * Asked once for each call, by each desk, until there is a verdict; several questions may be open at a time. If it fails, the
   * call stays open for the next desk. The signal is aborted when the answer is no longer needed.
   */
  decide: (call: BrokerCall, signal: AbortSignal) => Promise<Verdict>
  /** If it fails, the event is told again by the next desk. */
  onEvent: (event: BrokerEvent) => void | Promise<void>
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
  readonly #calls = new Map<string, { gone: AbortController; served: Promise<void> }>()
  #root: ProcessIdentity | null = null

  constructor(input: BrokerInput) {
    this.#input = input
    this.#asked = askedDir(input.shared)
    mkdirSync(input.private, { recursive: true, mode: 0o700 })
    for (const folder of CallFolder.openAll(input.private)) {
      // The earlier desk may have died before it removed the request.
      removeRequest(this.#asked, folder.id)
      this.#serve(folder)
    }
    this.#watcher = watchQuietly(this.#asked, (name) => {
      if (name === null) this.#lookAround()
      else if (isCallId(name)) this.#look(name)
    })
    this.#timer = setInterval(() => this.#lookAround(), POLL_MS).unref()
    this.#lookAround()
  }

  async close(): Promise<void> {
    this.#watcher?.close()
    clearInterval(this.#timer)
    this.#closing.abort()
    await Promise.all([...this.#calls.values()].map(({ served }) => served))
  }

  #lookAround(): void {
    for (const id of listRequests(this.#asked)) this.#look(id)
    for (const [id, { gone }] of this.#calls) if (!isWaiting(this.#asked, id)) gone.abort()
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
    const served = this.#carryThrough(folder, gone.signal)
      // What could not be written or told now is left to the next desk.
      .catch(() => {})
      .finally(() => this.#calls.delete(folder.id))
    this.#calls.set(folder.id, { gone, served })
  }

  /** Returns when the call is over, or when this desk can do no more for it. */
  async #carryThrough(folder: CallFolder, gone: AbortSignal): Promise<void> {
    const call = this.#callOf(folder)
    const decided = folder.verdict() ?? (await this.#decide(folder, call, gone))
    if (decided === null) return
    if (decided === 'gone') return this.#end(folder, call)
    const verdict = decided
    if (verdict.decision === 'deny') {
      replyFailure(this.#asked, folder.id, REFUSED, `refused by Reprise: ${verdict.reason}`)
      await this.#tellDecision(folder, { type: 'decided', call, verdict })
      return this.#remove(folder)
    }
    const told = this.#tellDecision(folder, { type: 'decided', call, verdict })
    // Handled below, when the call has ended.
    told.catch(() => {})
    if (!(await this.#follow(folder, verdict))) return
    await told
    await this.#end(folder, call, verdict.after)
  }

  #callOf({ id, request }: CallFolder): BrokerCall {
    const { program, args, cwd, pid } = request
    return { id, program, path: this.#input.programs.get(program) ?? '', args, cwd, pid }
  }

  /** null: it stays open for the next desk. */
  async #decide(folder: CallFolder, call: BrokerCall, gone: AbortSignal): Promise<Verdict | 'gone' | null> {
    const problem = folder.request.garbled
      ? 'an argument is not valid UTF-8'
      : call.path === ''
        ? `${call.program} is not one of the programs that Reprise runs`
        : null
    const signal = AbortSignal.any([gone, this.#closing.signal])
    const verdict: Verdict | null = problem
      ? { decision: 'deny', reason: problem }
      : await Promise.race([
          this.#input.decide(call, signal).catch(() => never(signal)),
          aborted(signal).then(() => null),
        ])
    if (verdict !== null && !signal.aborted) return folder.writeVerdict(verdict)
    if (this.#closing.signal.aborted) return null
    folder.revoke('the caller is gone')
    return 'gone'
  }

  /** Returns true when the call has ended, false if there is nothing more to do for this desk. */
  async #follow(folder: CallFolder, verdict: Verdict & { decision: 'run' }): Promise<boolean> {
    let runner: Runner | null = null
    while (!this.#closing.signal.aborted) {
      const progress = folder.progress()
      if (progress.at === 'removed') return false
      if (progress.at === 'ended') return true
      if (progress.at === 'unclaimed' && runner === null) {
        runner = await this.#start(folder, verdict)
      } else if (progress.at === 'unclaimed' && runner?.hasExited()) {
        folder.revoke(folder.readLog() || 'the runner was killed')
      } else if (progress.at === 'claimed' && this.#isDead(folder, progress.runner)) {
        await this.#giveUp(folder, progress.runner)
      } else {
        await this.#pause(runner)
      }
    }
    return false
  }

  /** null: it cannot be started and never will be, or another desk has already started it. */
  async #start(folder: CallFolder, verdict: Verdict & { decision: 'run' }): Promise<Runner | null> {
    try {
      const root = await this.#findRoot()
      if (root === null || !isWaiting(this.#asked, folder.id)) throw new Error('the caller is gone')
      return await startRunner({ folder, asked: this.#asked, root, verdict })
    } catch (error) {
      folder.revoke(error instanceof Error ? error.message : String(error))
      return null
    }
  }

  async #findRoot(): Promise<ProcessIdentity | null> {
    if (this.#root && isAlive(this.#root)) return this.#root
    const pid = await this.#input.sandboxRootPid()
    this.#root = pid === null ? null : identify(pid)
    return this.#root
  }

  #isDead(folder: CallFolder, runner: ProcessIdentity | null): boolean {
    return runner ? !isAlive(runner) : Date.now() - folder.claimedAt() > CLAIM_MS
  }

  async #giveUp(folder: CallFolder, runner: ProcessIdentity | null): Promise<void> {
    // It may have written the exit code just before it ended.
    if (folder.progress().at === 'ended') return
    if (runner) await endSession(runner, TERM_MS)
    folder.markUnknown('what ran it was killed')
  }

  async #pause(runner: Runner | null): Promise<void> {
    const timer = delay(POLL_MS, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
    await (runner && !runner.hasExited() ? Promise.race([runner.exited, timer]) : timer)
  }

  async #end(folder: CallFolder, call: BrokerCall, after = ''): Promise<void> {
    const progress = folder.progress()
    if (progress.at !== 'ended') return
    const { end, durationMs } = progress
    this.#replyEnd(folder.id, end, after)
    await this.#input.onEvent({ type: 'ended', call, end, durationMs })
    this.#remove(folder)
  }

  /** The runner has already told the exit code, unless it was killed in between. A shim that hears it twice does not mind. */
  #replyEnd(id: string, end: CallEnd, after: string): void {
    if (end.kind === 'exited') replyExit(this.#asked, id, end.code, after)
    else if (end.kind === 'unknown')
      replyFailure(this.#asked, id, UNKNOWN, `outcome unknown, not repeated: ${end.reason}`)
    else replyFailure(this.#asked, id, REFUSED, `not started: ${end.reason}`)
  }

  async #tellDecision(folder: CallFolder, event: BrokerEvent): Promise<void> {
    if (folder.isDecisionTold) return
    await this.#input.onEvent(event)
    folder.markDecisionTold()
  }

  #remove(folder: CallFolder): void {
    removeFifos(this.#asked, folder.id)
    folder.remove()
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Settles only when the signal is aborted. */
const never = (signal: AbortSignal): Promise<null> => aborted(signal).then(() => null)
