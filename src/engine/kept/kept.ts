/**
 * The processes that wait for the next turn of their session (store/runs/kept-processes.ts).
 *
 * An attempt leaves its process here (`add`), or one is started ahead (warm.ts); a daemon adopts those of the last one.
 * waiting → taken by a turn (`take`), or leaving → gone. Only this class ends a kept process, and it releases the session
 * only when the process and everything that it started are gone (I4, I6). That a process leaves is stored before it is
 * told, so a daemon that adopts it ends it, and does not give it a turn that it would not take.
 *
 * A process is given up when it was kept long enough, when there are too many or they use too much memory (the one that
 * was used least recently goes first), when the machine runs out of memory, when its turn would be something else than
 * a resume with the same process (core/kept/can-reuse.ts), when somebody else opens or changes the session, and before
 * anything is done to the session.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { KeptProcessInfo } from '../../contract/kept.ts'
import type { Clock } from '../../core/clock.ts'
import { type WantedProcess, whyNotReused } from '../../core/kept/can-reuse.ts'
import { isShort, type KeptLimits, whoGoes } from '../../core/kept/who-goes.ts'
import { OwnershipLost } from '../../store/base/errors.ts'
import type { Kept, KeptProcess, ProcessRecord } from '../../store/runs/process-records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { Detached, type Persist } from '../base/persist.ts'
import { GONE, type Processes } from '../base/processes.ts'
import { type DisturbedDeps, findDisturbance } from './disturbance.ts'
import { type EndWaitingDeps, endWaiting } from './end-waiting.ts'

export type KeptDeps = DisturbedDeps &
  EndWaitingDeps & {
    store: Pick<Store, 'findKept' | 'takeOverKept' | 'leaveKept' | 'endKept'>
    agents: Pick<AgentRegistry, 'adapterOf'>
    processes: Pick<
      Processes,
      'folderOf' | 'revoke' | 'findKeeper' | 'isAlive' | 'isOfOther' | 'endStrays' | 'memoryOf' | 'readMemory'
    >
    clock: Clock
    persist: Persist
    log: Log
    settings: { kept: KeptLimits }
  }

interface Entry {
  process: KeptProcess
  /** null: not measured yet. */
  bytes: number | null
  /** Set while a turn takes it, or it is being ended. */
  busy: Promise<unknown> | null
}

const LOOK_EVERY_MS = 1000
const MEASURE_EVERY_MS = 15_000

export class KeptProcesses {
  readonly #deps: KeptDeps
  readonly #bySession = new Map<SessionId, Entry>()
  #timer: NodeJS.Timeout | null = null
  #measuredAtMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(deps: KeptDeps) {
    this.#deps = deps
  }

  /** How a process is kept from now on; null: none is kept. */
  plan(facts: Pick<Kept, 'spoolOffset' | 'transcriptBytes' | 'preStarted'>): Kept | null {
    const { keepMs, maxProcesses } = this.#deps.settings.kept
    if (this.#closed || keepMs === 0 || maxProcesses === 0) return null
    const sinceMs = this.#deps.clock.now().getTime()
    return { sinceMs, untilMs: sinceMs + keepMs, ...facts }
  }

  /** Watches over a process that is stored as kept. */
  add(process: KeptProcess): void {
    const entry: Entry = { process, bytes: null, busy: null }
    this.#bySession.set(process.sessionId, entry)
    if (this.#closed) void this.#giveUp(entry, 'Reprise is being stopped')
    else if (process.kept.leaving) void this.#giveUp(entry, 'Reprise was stopped while it was ended')
    else void this.#look({ measure: true })
  }

  /**
   * Takes the process of the session for a turn. null: there is none, or it cannot be reused and has been ended. The
   * caller must call `done` with whether an attempt has it now.
   */
  async take(
    sessionId: SessionId,
    wanted: WantedProcess,
  ): Promise<{ process: KeptProcess; done: (taken: boolean) => void } | null> {
    const entry = await this.#settled(sessionId)
    if (!entry) return null
    const { process } = entry
    const isAlive = this.#isAlive(process)
    const why = whyNotReused({ ...process, ...process.kept, isAlive }, wanted, this.#deps.clock.now())
    if (why !== null) {
      // At a polite end the agent would write to a session that somebody else has continued.
      const abruptly = wanted.outsideTurns > 0 || wanted.transcriptBytes !== process.kept.transcriptBytes
      await this.#giveUp(entry, why, { abruptly })
      return null
    }
    let done = (_: boolean) => {}
    entry.busy = new Promise<void>((resolve) => {
      done = (taken) => {
        entry.busy = null
        if (taken) this.#remove(entry)
        resolve()
      }
    })
    return { process, done }
  }

  /** Ends the process of the session, if there is one. Resolves when the session is free. */
  async free(sessionId: SessionId, why: string): Promise<void> {
    const entry = await this.#settled(sessionId)
    if (entry) await this.#giveUp(entry, why)
  }

  /** Whether the machine has memory left for another process that waits. */
  async hasRoom(): Promise<boolean> {
    return !isShort(await this.#deps.processes.readMemory())
  }

  list(): KeptProcessInfo[] {
    return [...this.#bySession.values()].map(({ process, bytes }) => ({
      id: process.id,
      conversationId: process.conversationId,
      sessionId: process.sessionId,
      agent: process.agent,
      pid: process.keeper?.pid ?? null,
      preStarted: process.kept.preStarted,
      since: new Date(process.kept.sinceMs).toISOString(),
      until: new Date(process.kept.untilMs).toISOString(),
      memoryBytes: bytes,
    }))
  }

  /** Takes over a process that an earlier daemon kept, or was about to start. */
  async adopt(left: ProcessRecord): Promise<void> {
    const { store, processes, persist, clock, log } = this.#deps
    try {
      const process = await persist(() => store.takeOverKept(left, clock.now()))
      const dir = processes.folderOf(process.spool)
      const isStarted = !(await processes.revoke(dir))
      const keeper = process.keeper ?? (isStarted ? await processes.findKeeper(dir, process.spool) : null)
      if (keeper && processes.isOfOther(keeper, dir)) {
        log.warn({ process: process.id }, 'a copy of a home: the kept process belongs to the original home')
        return await persist(() => store.endKept(process, clock.now()))
      }
      this.add(process)
      const { state, kept } = process
      const found = kept.leaving ? 'adopted a process that was being ended' : 'adopted a kept process'
      log.info({ process: process.id, session: process.sessionId }, found)
      // It was being started when the daemon died, so it is not known what it has been told.
      if (state !== 'kept') await this.free(process.sessionId, 'Reprise was stopped while it started')
    } catch (error) {
      if (!(error instanceof OwnershipLost || error instanceof Detached)) throw error
    }
  }

  /** Ends all. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    while (this.#bySession.size > 0) {
      const ended = [...this.#bySession.keys()].map((id) => this.free(id, 'Reprise is being stopped'))
      await Promise.allSettled(ended)
    }
  }

  /** The entry of the session, once nothing else is done with it. */
  async #settled(sessionId: SessionId): Promise<Entry | null> {
    for (;;) {
      const entry = this.#bySession.get(sessionId)
      if (!entry?.busy) return entry ?? null
      await entry.busy
    }
  }

  #isAlive({ keeper }: KeptProcess): boolean {
    return keeper !== null && this.#deps.processes.isAlive(keeper)
  }

  /** Never rejects. If it fails, the process still holds its session, so the next look tries again. */
  #giveUp(entry: Entry, why: string, { abruptly = false } = {}): Promise<void> {
    const { log } = this.#deps
    const { id } = entry.process
    const ending = this.#end(entry, abruptly ? 'abruptly' : 'politely')
      .then(() => {
        this.#remove(entry)
        log.info({ process: id, why }, 'ended a kept process')
      })
      .catch((error: unknown) => {
        log.warn({ process: id, error: String(error) }, 'could not end a kept process')
        // Another daemon has it, or the next one will.
        if (this.#closed || error instanceof OwnershipLost) this.#remove(entry)
      })
      .finally(() => {
        entry.busy = null
      })
    entry.busy = ending
    return ending
  }

  /** The session may have another entry by now: a turn that took the process has ended, and left it again. */
  #remove(entry: Entry): void {
    if (this.#has(entry)) this.#bySession.delete(entry.process.sessionId)
  }

  #has(entry: Entry): boolean {
    return this.#bySession.get(entry.process.sessionId) === entry
  }

  async #end(entry: Entry, how: NonNullable<Kept['leaving']>): Promise<void> {
    const { store, processes, agents, persist, clock, settings } = this.#deps
    const { process: waiting } = entry
    // If the answer of the store to a turn was lost, the turn may have the process.
    const stored = await store.findKept(waiting.sessionId)
    if (stored?.id !== waiting.id || stored.fence !== waiting.fence) return
    const process = await store.leaveKept(waiting, how).catch((error: unknown) => {
      if (error instanceof OwnershipLost) throw error
      // A full disk must not keep the process alive. A turn that a later daemon gives to it takes a second attempt.
      return { ...waiting, kept: { ...waiting.kept, leaving: how } }
    })
    entry.process = process
    const { spool, agent, binding } = process
    const keeper = process.keeper ?? (await processes.findKeeper(processes.folderOf(spool), spool)) ?? GONE
    const adapter = await agents.adapterOf(agent, binding.runtimeId)
    if (process.kept.leaving === 'abruptly') await processes.endStrays(spool, keeper, settings.killAfterMs)
    else await endWaiting(this.#deps, { spool, keeper, adapter, addressee: binding })
    await persist(() => store.endKept(process, clock.now()))
  }

  #arm(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#closed || this.#bySession.size === 0) return
    this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref()
  }

  /** Gives up what must not wait any longer. Never rejects. */
  async #look({ measure = false } = {}): Promise<void> {
    const { clock, log } = this.#deps
    try {
      const nowMs = clock.now().getTime()
      if (measure || nowMs - this.#measuredAtMs >= MEASURE_EVERY_MS) await this.#measure(nowMs)
      const waiting = () => [...this.#bySession.values()].filter(({ busy }) => busy === null)
      for (const entry of waiting()) {
        const why = await this.#whyNow(entry)
        // A turn may have taken it meanwhile.
        if (why !== null && entry.busy === null && this.#has(entry))
          void this.#giveUp(entry, why, { abruptly: true })
      }
      const memory = await this.#deps.processes.readMemory()
      const facts = waiting().map((entry) => ({ entry, ...entry.process.kept, bytes: entry.bytes ?? 0 }))
      for (const { kept, why } of whoGoes(facts, memory, this.#deps.settings.kept, nowMs))
        if (kept.entry.busy === null) void this.#giveUp(kept.entry, why)
    } catch (error) {
      log.warn({ error: String(error) }, 'could not look after kept processes')
    } finally {
      this.#arm()
    }
  }

  /** Why it must end at once; null: it may wait. */
  async #whyNow({ process }: Entry): Promise<string | null> {
    if (process.kept.leaving) return 'it could not be ended before'
    return this.#isAlive(process) ? findDisturbance(this.#deps, process) : 'it has ended'
  }

  async #measure(nowMs: number): Promise<void> {
    this.#measuredAtMs = nowMs
    for (const entry of this.#bySession.values()) {
      const { spool, keeper } = entry.process
      if (keeper) entry.bytes = await this.#deps.processes.memoryOf(spool, keeper)
    }
  }
}
