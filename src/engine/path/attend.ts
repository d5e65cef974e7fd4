/** Steps 5 to 7 of the path, for an attempt whose process exists: supervise it to its end, then settle it. */
import type { RunRecord } from '../../store/runs/records.ts'
import type { Enforcement } from '../enforce/enforcement.ts'
import { mirrorDuring } from '../mirror/during.ts'
import { type OtherWritersDeps, watchOtherWriters } from '../sessions/other-writers.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import { Supervision, type SupervisionDeps, type SupervisionInput } from '../supervise/supervision.ts'
import { type SettleDeps, settleAttempt } from './settle.ts'

export type AttendDeps = SupervisionDeps &
  SettleDeps &
  OtherWritersDeps & {
    enforcement: Pick<Enforcement, 'accompany' | 'wasFree'>
    live: LiveRuns
  }

export type AttendInput = Omit<SupervisionInput, 'onWaiting' | 'onTurnEnd' | 'mayStay'>

/** `goneSince` is set if the process had already ended when the attempt was adopted. */
export async function attend(
  deps: AttendDeps,
  input: AttendInput,
  goneSince: Date | null = null,
): Promise<void> {
  const { live, enforcement } = deps
  const { run, attempt } = input
  const onWaiting = (waiting: boolean) => live.noteWaiting(run.id, waiting)
  // Copied while the agent shuts down, so that little is left to copy when the attempt is settled.
  const onTurnEnd = () => void deps.mirrors.catchUp(attempt.sessionId, [attempt.agentSessionId])
  const mayStay = attempt.keepable && input.gate === null && deps.purposes.of(run).keepsWarm
  const supervision = new Supervision(deps, { ...input, mayStay, onWaiting, onTurnEnd })
  live.add(run.id, supervision)
  try {
    await stopIfUnwanted(deps, input, supervision)
    const stopPurpose = await deps.purposes.of(run).duringAttempt(run, attempt)
    const dismiss = enforcement.accompany(input, input.gate)
    const stopWatching = watchOtherWriters(deps, input, (message) =>
      supervision.stop('session-conflict', message),
    )
    const stopMirroring = mirrorDuring(deps.mirrors, attempt)
    let end: Awaited<ReturnType<Supervision['run']>> = null
    try {
      end = await supervision.run()
    } finally {
      stopWatching()
      stopMirroring()
      stopPurpose()
      await dismiss(end !== null)
    }
    if (end) await settleAttempt(deps, { ...input, end, goneSince })
  } finally {
    live.remove(run.id)
  }
}

/** Stops an attempt whose run was cancelled or edited before there was a process to stop. */
async function stopIfUnwanted(
  { store, enforcement }: AttendDeps,
  { run, attempt }: AttendInput,
  supervision: Supervision,
): Promise<void> {
  const now: RunRecord | null = await store.getRun(run.id)
  if (now?.cancelRequested) await supervision.stop('cancelled', 'cancelled')
  if (now && attempt.number <= now.outdatedAttempts)
    await supervision.stop('question-edited', 'its question was edited')
  // The attempt was started before dry-run was set, so its agent does not ask before each tool call.
  if (enforcement.wasFree(run) && attempt.process !== null)
    await supervision.stop('cancelled', 'Reprise was started as a dry run')
}
