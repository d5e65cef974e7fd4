/**
 * The broker of a tier: programs that act on the world exist in its sandbox only as shims. A call is judged by its argument list and run
 * outside, with the user's credentials, which the agent never sees.
 *
 * In the attempt's folder:
 *   broker/   the shims and their requests; seen inside
 *   calls/    what has been decided, started and ended; not seen inside
 */
import { join } from 'node:path'
import type { Env } from '../../agents/adapter.ts'
import type { EventBody } from '../../contract/events.ts'
import type { Clock } from '../../core/clock.ts'
import { readArguments } from '../../core/rules/arguments.ts'
import { showCall } from '../../core/rules/call.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { BrokerCall, BrokerEvent, CallEnd, Verdict } from '../../process/broker/call.ts'
import { type Broker, openBroker } from '../../process/broker/desk.ts'
import { endCalls } from '../../process/broker/end-calls.ts'
import type { BrokerHost } from '../../process/broker/host.ts'
import { findSandboxRoot } from '../../process/broker/sandbox-root.ts'
import type { Handling } from '../../process/handling.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import type { SandboxInput } from '../../process/sandbox/sandbox.ts'
import { OwnershipLost } from '../../store/base/errors.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { Detached, type Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import { copyArguments } from './copied-arguments.ts'
import type { CallPlace, Gate } from './gate.ts'
import { planGitPush } from './git-push.ts'

export interface BrokeringDeps {
  broker: BrokerHost
  store: Pick<Store, 'addEvents'>
  clock: Clock
  bus: Pick<ProgressBus, 'publish'>
  log: Log
  persist: Persist
  handling: Pick<Handling, 'during'>
  /** The directory with one folder per session. */
  sandboxes: string
}

export interface BrokeredAttempt {
  run: RunRecord
  attempt: AttemptRecord
  dir: AttemptDir
  keeper: ProcessIdentity
}

export interface Installed {
  /** Folders of Reprise that the agent must see, and those that it must be able to write. */
  shared: { visible: readonly string[]; writable: readonly string[] }
  replaced: NonNullable<SandboxInput['replaced']>
  /** The environment with the shims first on PATH. */
  env: Env
}

const sharedOf = ({ path }: AttemptDir) => join(path, 'broker')
const callsOf = ({ path }: AttemptDir) => join(path, 'calls')

/** How long a brokered program may take to end after the attempt has ended. */
const TERM_MS = 5000

export class Brokering {
  readonly #deps: BrokeringDeps

  constructor(deps: BrokeringDeps) {
    this.#deps = deps
  }

  /** Before the agent starts. */
  async install(
    { dir, attempt, workDir }: { dir: AttemptDir; attempt: AttemptRecord; workDir: string },
    env: Env,
  ): Promise<Installed> {
    const { broker, sandboxes } = this.#deps
    const shared = sharedOf(dir)
    const { folders, replaced } = broker.install(shared)
    await broker.fixRemotes(join(sandboxes, attempt.sessionId), workDir)
    return {
      shared: { visible: [shared], writable: [folders.asked] },
      replaced,
      env: { ...env, PATH: [folders.bin, env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(':') },
    }
  }

  /** Answers the shims while the attempt is supervised. */
  open(
    attended: BrokeredAttempt,
    gate: Gate,
    place: CallPlace,
  ): { close: (hasEnded: boolean) => Promise<void> } {
    const { dir, keeper } = attended
    const refusals = new Map<string, EventBody>()
    const desk: Broker = openBroker({
      shared: sharedOf(dir),
      private: callsOf(dir),
      programs: this.#deps.broker.programs,
      sandboxRootPid: async () => findSandboxRoot(keeper.pid),
      decide: async (call, signal) => {
        const { verdict, refusal } = await this.#decide(attended, gate, place, call)
          .catch((error: unknown) => this.#unsure(attended, call, error))
          .catch(leaveOpen(signal))
        if (refusal) refusals.set(call.id, refusal)
        return verdict
      },
      onEvent: async (event) => {
        const body = eventOf(event, refusals.get(event.call.id))
        refusals.delete(event.call.id)
        if (body) await this.#record(attended, body)
      },
    })
    return {
      close: async (hasEnded) => {
        if (hasEnded) await endCalls(callsOf(dir), TERM_MS)
        await desk.close()
      },
    }
  }

  async #decide(
    { run, attempt, dir }: BrokeredAttempt,
    gate: Gate,
    place: CallPlace,
    call: BrokerCall,
  ): Promise<{ verdict: Verdict; refusal: EventBody | null }> {
    const { broker, handling, sandboxes } = this.#deps
    const session = join(sandboxes, attempt.sessionId)
    const remotes = broker.readRemotes(session)
    const decided = await handling.during(run.id, 'call', call.id, () =>
      gate.decideCall(call, place, remotes),
    )
    const deny = (refusal: EventBody & { type: 'refusal' }) => ({
      verdict: { decision: 'deny' as const, reason: refusal.reason },
      refusal,
    })
    if (decided.refusal) return deny(decided.refusal)
    const { args, cwd, copies } = decided.start
    const env = withoutOwnPrograms(broker.envOf(call.program), place)
    if (place.canWrite(call.path))
      return deny(refusalOf(call, 'agent-written', `you could have written ${call.path}`))
    if (call.program === 'git') {
      const reading = readArguments('git', args)
      const push = planGitPush({ reading, cwd, place, remotes, repository: join(session, 'push.git') })
      if (!push.ok) return deny(refusalOf(call, 'git-push', push.problem))
      return {
        verdict: {
          decision: 'run',
          program: call.path,
          cwd: '/',
          env: { ...env, ...push.env },
          args: push.args,
          after: push.after,
        },
        refusal: null,
      }
    }
    const folder = join(dir.path, 'copies', call.id)
    const copied = copyArguments({ args, copies, cwd, folder, isHidden: place.isHidden })
    if (!copied.ok) return deny(refusalOf(call, 'files', copied.problem))
    return { verdict: { decision: 'run', program: call.path, args: copied.args, cwd, env }, refusal: null }
  }

  /** Whatever goes wrong, the call is not made, and its caller is told. */
  #unsure({ run }: BrokeredAttempt, call: BrokerCall, error: unknown) {
    if (error instanceof Detached || error instanceof OwnershipLost) throw error
    this.#deps.log.error(
      { run: run.id, error: String((error as Error)?.stack ?? error) },
      'could not check a call',
    )
    const reason = 'Reprise could not check this call, so it is not made. Try again later.'
    const what = showCall(call)
    const refusal: EventBody = { type: 'refusal', tool: call.program, what, rule: 'unchecked', reason }
    return { verdict: { decision: 'deny' as const, reason }, refusal }
  }

  async #record({ run, attempt }: BrokeredAttempt, event: EventBody): Promise<void> {
    const { store, clock, bus, persist } = this.#deps
    await persist(() => store.addEvents(attempt, [event], clock.now()))
    bus.publish(run.id)
  }
}

/** Programs find others on PATH. None may be found in a folder that the agent can write, such as the project's node_modules. */
function withoutOwnPrograms(env: Env, { canWrite }: CallPlace): Env {
  const dirs = (env.PATH ?? '').split(':').filter((dir) => dir.startsWith('/') && !canWrite(dir))
  return { ...env, PATH: dirs.join(':') || '/usr/local/bin:/usr/bin:/bin' }
}

function refusalOf(call: BrokerCall, rule: string, problem: string): EventBody & { type: 'refusal' } {
  const what = showCall(call)
  const reason = `\`${what}\` cannot be run for you: ${problem}.`
  return { type: 'refusal', tool: call.program, what, rule, reason }
}

function eventOf(event: BrokerEvent, refusal: EventBody | undefined): EventBody | null {
  const { program, args, cwd } = event.call
  const what = showCall({ program, args })
  if (event.type === 'ended')
    return { type: 'program-end', program, what, ...endOf(event.end), ...durationOf(event) }
  if (event.verdict.decision === 'run') return { type: 'program-start', program, what, workDir: cwd }
  return refusal ?? { type: 'refusal', tool: program, what, reason: event.verdict.reason }
}

const durationOf = ({ durationMs }: { durationMs: number | null }) =>
  durationMs === null ? {} : { durationMs }

function endOf(end: CallEnd): { exitCode: number | null; message?: string } {
  if (end.kind === 'exited')
    return {
      exitCode: end.code,
      ...(end.callerGone ? { message: 'ended because its caller had ended' } : {}),
    }
  return {
    exitCode: null,
    message:
      end.kind === 'unknown' ? `outcome unknown, not repeated: ${end.reason}` : `not started: ${end.reason}`,
  }
}

/** If this daemon is closing or has lost the attempt, the shim gets no answer and waits for the next daemon. */
const leaveOpen = (signal: AbortSignal) => (error: unknown) => {
  if (!(error instanceof Detached) && !(error instanceof OwnershipLost)) throw error
  return new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(error), { once: true })
  })
}
