/**
 * Cancels a run and its planned follow-ups. If the run has settled but its chain has not, the open run of the chain is
 * cancelled, or the tier that waits for approval.
 */
import type { RunId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { Purposes } from '../base/purposes.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import type { Approvals } from '../tiers/approvals.ts'
import { alreadySettled, requireRun } from './require-run.ts'

export interface CancelDeps {
  store: Pick<
    Store,
    | 'getRun'
    | 'settleQueued'
    | 'markCancelRequested'
    | 'listChain'
    | 'listEscalations'
    | 'endFollowUpsOf'
    | 'endFollowUpsOfRun'
  >
  purposes: Pick<Purposes, 'of'>
  clock: Clock
  bus: Pick<ProgressBus, 'publish'>
  live: Pick<LiveRuns, 'get'>
  approvals: Pick<Approvals, 'withdraw'>
}

export interface CancelHooks {
  wakeDispatcher: () => void
  /** Called when the state of the run may have changed. */
  onRun: (run: RunRecord) => void
}

/** Returns the run that was cancelled, as it was before. */
export async function cancelRun(deps: CancelDeps, hooks: CancelHooks, id: RunId): Promise<RunRecord> {
  const { store, clock, bus } = deps
  const run = await requireRun(store, id)
  const at = clock.now()
  const outcome = { name: 'cancelled', message: 'cancelled' } as const
  const effects = await deps.purposes.of(run).readEnding({ run, settled: outcome, attempt: null })
  const chain = run.links.tier === null ? [] : await store.listChain(id)
  const gone = await store.settleQueued(id, outcome, at, effects)
  const stops = gone || (await store.markCancelRequested(id, at))
  // The cancellation is stored, so the run can plan nothing more from here on.
  const unplanned = await cancelPlanned(deps, run, chain[0], at)
  if (!stops) return cancelHeir(deps, hooks, run, chain, unplanned)
  await deps.live.get(id)?.stop('cancelled', 'cancelled')
  bus.publish(id)
  hooks.wakeDispatcher()
  hooks.onRun(run)
  return run
}

async function cancelHeir(
  deps: CancelDeps,
  hooks: CancelHooks,
  run: RunRecord,
  chain: readonly RunRecord[],
  unplanned: number,
): Promise<RunRecord> {
  const heir = chain.find((one) => one.state.at !== 'settled')
  if (heir) return cancelRun(deps, hooks, heir.id)
  const escalations = await deps.store.listEscalations(chain.map((one) => one.id))
  const asking = escalations.find(({ decision }) => decision === 'ask')
  const withdrawn = asking !== undefined && (await deps.approvals.withdraw(asking.runId))
  if (!withdrawn && unplanned === 0) throw alreadySettled(run)
  hooks.onRun(run)
  return run
}

/** Cancels the follow-ups that the run planned; for a chain, those of all its runs. Returns their number. */
function cancelPlanned(
  { store }: CancelDeps,
  run: RunRecord,
  root: RunRecord | undefined,
  at: Date,
): Promise<number> {
  const end = { state: 'cancelled', by: 'person' } as const
  return root
    ? store.endFollowUpsOf(root.id, { ...end, message: 'its chain was cancelled' }, at)
    : store.endFollowUpsOfRun(run.id, { ...end, message: 'its run was cancelled' }, at)
}
