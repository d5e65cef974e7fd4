/** Why a queued run waits, in a sentence for people: behind whom, and what would end it. */
import { sayBehind, sayNoFreeSlot } from '../../core/obstacle/words.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface WhyQueuedDeps {
  store: Pick<Store, 'findAhead' | 'countRuns'>
  settings: { concurrency: number; jobs: { perWorkDir: number } }
}

/** Null for a run that does not wait, or starts at any moment. */
export async function whyQueued({ store, settings }: WhyQueuedDeps, run: RunRecord): Promise<string | null> {
  if (run.state.at !== 'queued') return null
  if (run.state.why !== null) return run.state.why
  const ahead = await store.findAhead(run.id)
  if (ahead && (ahead.shares === 'lane' || ahead.users >= settings.jobs.perWorkDir)) return sayBehind(ahead)
  const { running } = await store.countRuns()
  return running >= settings.concurrency ? sayNoFreeSlot(running, settings.concurrency) : null
}
