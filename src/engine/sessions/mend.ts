/**
 * Mends a torn transcript before the agent resumes it. By now the attempt holds the session's lease: nobody of ours
 * writes it. What was there is kept in the home for good; it is somebody's work. An agent also copes with a torn end
 * (the record is lost either way), so if mending fails the attempt goes on without.
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
  /** The folder that keeps transcripts as they were before they were mended. */
  damaged: string
}

export async function mendTranscript(
  deps: MendDeps,
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  attempt: AttemptRecord,
  path: string,
): Promise<void> {
  const note = await mend(deps, { adapter, env }, attempt, path).catch((error: unknown) => {
    deps.log.warn({ attempt: attempt.id, path, error: String(error) }, 'could not mend a transcript')
    return `The end of the session's transcript is torn and could not be mended: ${(error as Error).message}`
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
  // Somebody may have opened the session by hand since we looked.
  if ((await adapter.findHolders(agentSessionId, env)).length > 0) return null
  const time = clock.now().toISOString().replace(/[:.]/g, '-')
  const mended = await adapter.mendTranscript(path, join(damaged, `${agentSessionId}-${time}.jsonl`))
  if (mended === null) return null
  log.info({ attempt: id, path, ...mended }, 'mended a torn transcript')
  return `The session's transcript ended in a torn record (${mended.removedBytes} bytes), which was cut off. It is kept as it was in ${mended.keptAs}`
}
