/**
 * One call, from its request to its end.
 *
 * States, each found from what is on disk (call-folder.ts):
 *   undecided   `decide` has been asked, or will be by the next desk. If the caller dies, the call is over.
 *   denied      The shim is told, then the engine.
 *   allowed     A runner is started, unless the caller is gone.
 *   claimed     The runner runs the program, exactly once, and tells the shim the exit code itself. If the runner dies
 *               without an exit code, what it left is ended, and the shim is told that the outcome is unknown.
 *   ended       The engine is told. Then the folder is removed.
 *
 * Invariants: a program is started only after its verdict is on disk, and only by the one who created the claim. A desk that
 * says that a program was not started has created the claim itself. Two desks at a time do no harm.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive, type ProcessIdentity } from '../proc.ts'
import { isWaiting, removeFifos, replyExit, replyFailure } from './asked-folder.ts'
import type { BrokerCall, BrokerEvent, CallEnd, Verdict } from './call.ts'
import type { CallFolder } from './call-folder.ts'
import { endSession } from './end-calls.ts'
import { type Runner, startRunner } from './runner.ts'

const POLL_MS = 1000
/** A claim that is still empty after so long was left by a runner that died while writing it. */
const CLAIM_MS = 5000
const TERM_MS = 5000

/** Exit codes of the shim. */
export const REFUSED = 126
const UNKNOWN = 125

/** What decides, and is told. */
export interface Engine {
  /** The absolute path of each brokered program. */
  programs: ReadonlyMap<string, string>
  /**
   * Asked once for each call, by each desk, until there is a verdict; several questions may be open at a time. If it fails, the
   * call stays open for the next desk. The signal is aborted when the answer is no longer needed.
   */
  decide: (call: BrokerCall, signal: AbortSignal) => Promise<Verdict>
  /** If it fails, the event is told again by the next desk. */
  onEvent: (event: BrokerEvent) => void | Promise<void>
}

export interface CallContext {
  engine: Engine
  asked: string
  /** Process 1 of the sandbox. null: the sandbox has ended. */
  findRoot: () => Promise<ProcessIdentity | null>
  /** Aborted when the desk is closed. */
  closing: AbortSignal
}

type RunVerdict = Verdict & { decision: 'run' }

export class ServedCall {
  readonly #folder: CallFolder
  readonly #context: CallContext
  /** Aborted when the caller has died. */
  readonly #gone: AbortSignal
  readonly #call: BrokerCall

  constructor(folder: CallFolder, context: CallContext, gone: AbortSignal) {
    this.#folder = folder
    this.#context = context
    this.#gone = gone
    const { program, args, cwd, pid } = folder.request
    const path = context.engine.programs.get(program) ?? ''
    this.#call = { id: folder.id, program, path, args, cwd, pid }
  }

  /** Returns when the call is over, or when this desk can do no more for it. */
  async carryThrough(): Promise<void> {
    const verdict = this.#folder.verdict() ?? (await this.#decide())
    if (verdict === null) return
    if (verdict === 'gone') return this.#end()
    if (verdict.decision === 'deny') {
      this.#fail(REFUSED, `refused by Reprise: ${verdict.reason}`)
      await this.#tellDecision(verdict)
      return this.#remove()
    }
    const told = this.#tellDecision(verdict)
    // Handled below, when the program has ended.
    told.catch(() => {})
    if (!(await this.#run(verdict))) return
    await told
    await this.#end(verdict.after)
  }

  /** null: it stays open for the next desk. */
  async #decide(): Promise<Verdict | 'gone' | null> {
    const { engine, closing } = this.#context
    const signal = AbortSignal.any([this.#gone, closing])
    const problem = this.#findProblem()
    const verdict: Verdict | null = problem
      ? { decision: 'deny', reason: problem }
      : await Promise.race([
          engine.decide(this.#call, signal).catch(() => whenAborted(signal)),
          whenAborted(signal),
        ])
    if (verdict !== null && !signal.aborted) return this.#folder.writeVerdict(verdict)
    if (closing.aborted) return null
    this.#folder.revoke('the caller is gone')
    return 'gone'
  }

  #findProblem(): string | null {
    if (this.#folder.request.garbled) return 'an argument is not valid UTF-8'
    if (this.#call.path === '') return `${this.#call.program} is not one of the programs that Reprise runs`
    return null
  }

  /** Returns true when the program has ended, false if there is nothing more to do for this desk. */
  async #run(verdict: RunVerdict): Promise<boolean> {
    let runner: Runner | null = null
    while (!this.#context.closing.aborted) {
      const progress = this.#folder.progress()
      if (progress.at === 'removed') return false
      if (progress.at === 'ended') return true
      if (progress.at === 'unclaimed' && runner === null) {
        runner = await this.#start(verdict)
      } else if (progress.at === 'unclaimed' && runner?.hasExited()) {
        this.#folder.revoke(this.#folder.readLog() || 'the runner was killed')
      } else if (progress.at === 'claimed' && this.#isDead(progress.runner)) {
        await this.#giveUp(progress.runner)
      } else {
        await this.#pause(runner)
      }
    }
    return false
  }

  /** null: it cannot be started and never will be, or another desk has already started it. */
  async #start(verdict: RunVerdict): Promise<Runner | null> {
    const { asked, findRoot } = this.#context
    try {
      const root = await findRoot()
      if (root === null || !isWaiting(asked, this.#folder.id)) throw new Error('the caller is gone')
      return await startRunner({ folder: this.#folder, asked, root, verdict })
    } catch (error) {
      this.#folder.revoke(error instanceof Error ? error.message : String(error))
      return null
    }
  }

  #isDead(runner: ProcessIdentity | null): boolean {
    return runner ? !isAlive(runner) : Date.now() - this.#folder.claimedAt() > CLAIM_MS
  }

  async #giveUp(runner: ProcessIdentity | null): Promise<void> {
    // It may have written the exit code just before it ended.
    if (this.#folder.progress().at === 'ended') return
    if (runner) await endSession(runner, TERM_MS)
    this.#folder.markUnknown('what ran it was killed')
  }

  async #pause(runner: Runner | null): Promise<void> {
    const timer = delay(POLL_MS, undefined, { ref: false, signal: this.#context.closing }).catch(() => {})
    await (runner && !runner.hasExited() ? Promise.race([runner.exited, timer]) : timer)
  }

  async #end(after = ''): Promise<void> {
    const progress = this.#folder.progress()
    if (progress.at !== 'ended') return
    const { end, durationMs } = progress
    this.#replyEnd(end, after)
    await this.#context.engine.onEvent({ type: 'ended', call: this.#call, end, durationMs })
    this.#remove()
  }

  /** The runner has already told the exit code, unless it was killed in between. A shim that hears it twice does not mind. */
  #replyEnd(end: CallEnd, after: string): void {
    if (end.kind === 'exited') replyExit(this.#context.asked, this.#folder.id, end.code, after)
    else if (end.kind === 'unknown') this.#fail(UNKNOWN, `outcome unknown, not repeated: ${end.reason}`)
    else this.#fail(REFUSED, `not started: ${end.reason}`)
  }

  #fail(code: number, text: string): void {
    replyFailure(this.#context.asked, this.#folder.id, code, text)
  }

  async #tellDecision(verdict: Verdict): Promise<void> {
    if (this.#folder.isDecisionTold) return
    await this.#context.engine.onEvent({ type: 'decided', call: this.#call, verdict })
    this.#folder.markDecisionTold()
  }

  #remove(): void {
    removeFifos(this.#context.asked, this.#folder.id)
    this.#folder.remove()
  }
}

const whenAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    else signal.addEventListener('abort', () => resolve(null), { once: true })
  })
