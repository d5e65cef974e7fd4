import { type ErrorCode, toRepriseError } from '../../contract/errors.ts'
import type { EventBody } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Clock } from '../../core/clock.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { OwnershipLost } from '../../store/base/errors.ts'
import type { AttemptEnding, AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { type SpendDeps, settleSpend } from '../accounting/spend.ts'
import type { Log } from '../base/log.ts'
import type { Notifications } from '../base/notifications.ts'
import { Detached, type Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { Purposes } from '../base/purposes.ts'

export interface EndRunDeps {
  agents: SpendDeps['agents']
  store: SpendDeps['store'] & Pick<Store, 'settleQueued' | 'endAttempt' | 'takeOver' | 'listAttempts'>
  purposes: Pick<Purposes, 'of'>
  clock: Clock
  redactor: Redactor
  log: Log
  bus: Pick<ProgressBus, 'publish'>
  notifications: Pick<Notifications, 'wake'>
  persist: Persist
  processes: Pick<Processes, 'folderOf' | 'revoke' | 'readKeeper' | 'isOfOther' | 'endStrays' | 'sizeOf'>
  settings: { killAfterMs: number }
}

/** Settles a run that has no open attempt. Returns false if it has one. */
export async function endQueued(deps: EndRunDeps, run: RunRecord, outcome: Outcome): Promise<boolean> {
  const { store, purposes, clock, persist } = deps
  const effects = await purposes.of(run).readEnding({ run, settled: outcome, attempt: null })
  const done = await persist(() => store.settleQueued(run.id, outcome, clock.now(), effects))
  deps.bus.publish(run.id)
  deps.notifications.wake()
  return done
}

/**
 * Called after an internal error: the run must still settle, and none of its processes may keep running. Lost ownership
 * is not an error: the daemon that owns the attempt now takes care of it.
 */
export async function giveUp(deps: EndRunDeps, run: RunRecord, error: unknown): Promise<void> {
  if (error instanceof OwnershipLost || error instanceof Detached) {
    deps.log.warn({ run: run.id }, error.message)
    return
  }
  const { code, message: what, hint } = toRepriseError(error)
  const why = deps.redactor.text(hint ? `${what}. ${hint}` : what)
  deps.log.error({ run: run.id, error: code === 'internal' ? String((error as Error)?.stack) : code }, why)
  const outcome = wasNeverStarted(deps, run, code)
    ? ({ name: 'cancelled', message: `not started: ${why}` } as const)
    : ({ name: 'crashed', message: why } as const)
  await endNow(deps, run, outcome)
}

/**
 * Whether the run could not start because its agent or directory is gone, which counts as cancelled, not as crashed.
 * For an unattended run it counts as a failure, because people are notified of failures only.
 */
const wasNeverStarted = ({ purposes }: EndRunDeps, run: RunRecord, code: ErrorCode) =>
  run.attemptCount === 0 && code !== 'internal' && !purposes.of(run).unattended

/** Ends a run that an earlier daemon left open, without reading its output. */
export async function holdRun(deps: EndRunDeps, run: RunRecord, outcome: Outcome): Promise<void> {
  for (const attempt of await deps.store.listAttempts(run.id)) {
    if (attempt.state === 'ended') continue
    await deps.persist(() => deps.store.takeOver(attempt, deps.clock.now()))
    await deps.processes.revoke(deps.processes.folderOf(attempt.spool))
  }
  await endNow(deps, run, outcome)
}

async function endNow(deps: EndRunDeps, run: RunRecord, outcome: Outcome): Promise<void> {
  const { processes } = deps
  try {
    if (await endQueued(deps, run, outcome)) return
    for (const attempt of await deps.store.listAttempts(run.id)) {
      if (attempt.state === 'ended') continue
      const dir = processes.folderOf(attempt.spool)
      const keeper = attempt.process ?? (await processes.readKeeper(dir, attempt.spool))
      if (keeper && processes.isOfOther(keeper, dir)) {
        await leaveToOther(deps, run, attempt)
        continue
      }
      const { strays } = await processes.endStrays(attempt.spool, keeper, deps.settings.killAfterMs)
      await endUnseen(deps, run, attempt, {
        unread: await processes.sizeOf(dir),
        outcome,
        strays,
        interruptions: 1,
        next: { kind: 'settle', outcome },
      })
    }
  } catch (failure) {
    deps.log.error({ run: run.id, error: String(failure) }, 'could not settle the run')
  } finally {
    deps.bus.publish(run.id)
  }
}

/** Ends an attempt in a copied home. The daemon of the original home continues it there. */
export async function leaveToOther(deps: EndRunDeps, run: RunRecord, attempt: AttemptRecord): Promise<void> {
  const message =
    'this is a copy of a Reprise home: the agent was started from the original home, which continues the run'
  deps.log.warn({ run: run.id, attempt: attempt.id, pid: attempt.process?.pid }, message)
  const outcome = { name: 'cancelled', message } as const
  await endUnseen(deps, run, attempt, {
    outcome,
    strays: 0,
    interruptions: 0,
    next: { kind: 'settle', outcome },
  })
}

/** Ends an attempt whose agent was not started, for the reason `why`. It does not count as an interruption. */
export async function withdraw(
  deps: EndRunDeps,
  run: RunRecord,
  attempt: AttemptRecord,
  why: string,
): Promise<void> {
  await endUnseen(deps, run, attempt, {
    outcome: { name: 'crashed', message: why },
    strays: 0,
    interruptions: 0,
    next: run.cancelRequested
      ? { kind: 'settle', outcome: { name: 'cancelled', message: 'cancelled' } }
      : { kind: 'retry', notBefore: deps.clock.now(), why },
  })
}

interface UnseenEnding extends Pick<AttemptEnding, 'outcome' | 'interruptions' | 'next'> {
  strays: number
  /** The size of the agent's output, if some of it may not have been read. */
  unread?: number
}

/** Ends an attempt of whose process nothing is known except that it has ended. */
async function endUnseen(
  deps: EndRunDeps,
  run: RunRecord,
  attempt: AttemptRecord,
  { strays, unread = 0, ...end }: UnseenEnding,
): Promise<void> {
  const { store, purposes, clock, persist } = deps
  const { outcome, next } = end
  const settled = next.kind === 'settle' ? next.outcome : null
  // The cost is counted even though the work of the attempt is lost.
  const { own, total: spend } = await settleSpend(deps, run, attempt)
  const spent = { ...run, spend }
  const effects = settled ? await purposes.of(run).readEnding({ run: spent, settled, attempt: null }) : []
  const from = Math.min(attempt.heldFrom ?? attempt.spoolOffset, attempt.spoolOffset)
  const missing: EventBody[] = unread > from ? [{ type: 'gap', from, to: unread, reason: 'not-read' }] : []
  const at = clock.now()
  await persist(() =>
    store.endAttempt({
      ...end,
      effects,
      attempt,
      exitCode: null,
      costUsd: own.costUsd,
      session: {
        agentSessionId: null,
        turns: 0,
        told: null,
        poison: null,
        contextTokens: null,
        contextWindow: null,
        end: { stopReason: outcome.name, finished: false, messages: 0, usage: own.usage },
      },
      spend,
      done: run.done,
      resultText: run.resultText,
      events: [
        ...missing,
        { type: 'attempt-end', number: attempt.number, outcome, exitCode: null, strays },
        settled ? { type: 'run-end', outcome: settled } : { type: 'note', text: describeNext(next) },
      ],
      at,
    }),
  )
  deps.bus.publish(run.id)
  if (settled) deps.notifications.wake()
}

const describeNext = (next: AttemptEnding['next']) => (next.kind === 'settle' ? '' : next.why)
