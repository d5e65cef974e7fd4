/**
 * Tiers that wait for a person's approval. `ask` → `escalate` or `stop`, once, guarded in the store: an answer after
 * the time limit changes nothing, and neither does a second answer.
 */

import { RepriseError } from '../../contract/errors.ts'
import type { Approval } from '../../contract/escalation.ts'
import type { RunId } from '../../contract/ids.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { EscalationRecord } from '../../store/tiers/records.ts'
import { Alarm } from '../base/alarm.ts'
import type { Log } from '../base/log.ts'
import type { Notifications } from '../base/notifications.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import { hashOfAsk } from './chain.ts'
import { readTierNotices, type TellDeps } from './tell.ts'
import { nextTierRun, type TierRunDeps } from './tier-run.ts'

const MAX_WAITING = 1000

export type ApprovalsDeps = TierRunDeps &
  TellDeps & {
    store: Pick<Store, 'getRun' | 'getEscalation' | 'answerEscalation' | 'listWaitingEscalations'>
    notifications: Pick<Notifications, 'wake'>
    bus: Pick<ProgressBus, 'publish'>
    log: Log
    persist: Persist
    /** Resolves when the stored times are consistent with the clock. */
    followClock: () => Promise<void>
  }

export class Approvals {
  readonly #deps: ApprovalsDeps
  readonly #onDecided: (run: RunRecord) => void
  readonly #alarm: Alarm

  constructor(deps: ApprovalsDeps, onDecided: (run: RunRecord) => void) {
    this.#deps = deps
    this.#onDecided = onDecided
    this.#alarm = new Alarm({ ...deps, name: 'approvals', look: () => this.#expire() })
  }

  list(): Promise<EscalationRecord[]> {
    return this.#deps.store.listWaitingEscalations(MAX_WAITING)
  }

  async answer(runId: RunId, { decision, message, askHash }: Approval): Promise<EscalationRecord> {
    const { store, clock, bus } = this.#deps
    await this.#deps.followClock()
    const waiting = await store.getEscalation(runId)
    if (waiting?.decision !== 'ask' || waiting.toTier === null) throw notWaiting(runId, waiting)
    if (askHash !== undefined && askHash !== hashOfAsk(waiting))
      throw new RepriseError(
        'conflict',
        `run ${runId}: the request for approval has changed since it was shown`,
        {
          hint: '`reprise runs approvals` shows the current request.',
        },
      )
    if (waiting.expiresAt && waiting.expiresAt <= clock.now()) {
      this.wake()
      throw new RepriseError('conflict', `run ${runId}: the time limit for approval has passed`)
    }
    const run = await store.getRun(runId)
    if (!run) throw new Error(`there is no run ${runId}`)
    if (decision === 'approve' && waiting.toTier > this.#deps.settings.escalation.maxTier) {
      const { maxTier } = this.#deps.settings.escalation
      throw new RepriseError(
        'conflict',
        `tier ${waiting.toTier} is above the highest tier that is allowed now, ${maxTier}`,
        {
          hint: `Raise maxTier in the configuration, or refuse it: reprise runs refuse ${runId}`,
        },
      )
    }
    const next = decision === 'approve' ? nextTierRun(this.#deps, run, waiting.toTier) : null
    const said = message ? `: ${message}` : ''
    const decided = await store.answerEscalation(
      runId,
      {
        ...(decision === 'approve'
          ? { decision: 'escalate', reason: 'approved', message: `a person approved${said}` }
          : { decision: 'stop', reason: 'refused', message: `a person refused${said}` }),
        decidedBy: 'person',
        at: clock.now(),
      },
      { next, notices: [] },
    )
    if (!decided) throw notWaiting(runId, await store.getEscalation(runId))
    bus.publish(runId)
    this.#onDecided(run)
    return decided
  }

  /**
   * Cancels a chain that waits for approval, so that the next tier does not start. Returns false if it does not wait.
   */
  async withdraw(runId: RunId): Promise<boolean> {
    const { store, clock, bus } = this.#deps
    const answer = {
      decision: 'stop',
      reason: 'cancelled',
      message: 'cancelled',
      decidedBy: 'person',
      at: clock.now(),
    } as const
    const done = await store.answerEscalation(runId, answer, { next: null, notices: [] })
    bus.publish(runId)
    return done !== null
  }

  /** Ends approvals whose time limit has passed, now and at the next time limit. */
  wake(): void {
    this.#alarm.wake()
  }

  close(): Promise<void> {
    return this.#alarm.close()
  }

  async #expire(): Promise<Date | null> {
    const { store, clock, bus } = this.#deps
    await this.#deps.followClock()
    for (;;) {
      const [first] = await store.listWaitingEscalations(1)
      if (!first) return null
      const at = clock.now()
      if (first.expiresAt && first.expiresAt > at) return first.expiresAt
      const message = 'nobody approved in time'
      const answer = {
        decision: 'stop',
        reason: 'approval-timeout',
        decidedBy: 'timeout',
        message,
        at,
      } as const
      const run = await store.getRun(first.runId)
      const notices = run ? await readTierNotices(this.#deps, run, { ...first, ...answer }) : []
      await this.#deps.persist(() => store.answerEscalation(first.runId, answer, { next: null, notices }))
      this.#deps.notifications.wake()
      bus.publish(first.runId)
      if (run) this.#onDecided(run)
    }
  }
}

function notWaiting(runId: RunId, known: EscalationRecord | null): RepriseError {
  const what = known ? `it was already decided: ${known.message}` : 'it does not wait for approval'
  return new RepriseError('conflict', `run ${runId}: ${what}`, {
    hint: '`reprise runs approvals` lists the runs that wait for approval.',
  })
}
