/**
 * Repairs a transcript whose last record is incomplete, before the agent resumes it. The attempt holds the session's
 * lease by then, so no other run writes the transcript. The original is kept in the home permanently. Agents also
 * tolerate an incomplete last record (it is lost either way), so if the repair fails, the attempt continues without it.
 */
import { join } from 'node:path'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { Clock } from '../../core/clock.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import { EventBatch } from '../../store/runs/event-batch.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'

export interface MendDeps {
  store: Pick<Store, 'advanceAttempt'>
  clock: Clock
  log: Log
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
  /** The directory with copies of transcripts from before they were repaired. */
  damaged: string
}

export async function mendTranscript(
  deps: MendDeps,
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  attempt: AttemptRecord,
  path: string,
): Promise<void> {
  const note = await mend(deps, { adapter, env }, attempt, path).catch((error: unknown) => {
    deps.log.warn({ attempt: attempt.id, path, error: String(error) }, 'could not repair a transcript')
    return `The last record of the session's transcript is incomplete and could not be repaired: ${(error as Error).message}`
  })
  if (note === null) return
  const at = deps.clock.now()
  const said = EventBatch.of([{ type: 'note', text: note }])
  await deps.persist(() => deps.store.advanceAttempt(attempt, said, attempt.spoolOffset, at))
  deps.bus.publish(attempt.runId)
}

async function mend(
  { clock, damaged, log }: MendDeps,
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  { id, agentSessionId }: AttemptRecord,
  path: string,
): Promise<string | null> {
  // Another process may have opened the session since the last check.
  if ((await adapter.findHolders(agentSessionId, env)).length > 0) return null
  const time = clock.now().toISOString().replace(/[:.]/g, '-')
  const mended = await adapter.mendTranscript(path, join(damaged, `${agentSessionId}-${time}.jsonl`))
  if (mended === null) return null
  log.info({ attempt: id, path, ...mended }, 'repaired a transcript')
  return `The session's transcript ended in an incomplete record (${mended.removedBytes} bytes), which was removed. The original is kept in ${mended.keptAs}`
}
