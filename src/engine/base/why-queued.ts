/** Why a queued run waits, in a sentence for people: behind whom, and what would end it. */
import { sayAgentBusy, sayBehind, sayNoFreeSlot } from '../../core/obstacle/words.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface WhyQueuedDeps {
  store: Pick<Store, 'findAhead' | 'countRunning'>
  settings: {
    concurrency: number
    agentConcurrency: Readonly<Record<string, number>>
    jobs: { perWorkDir: number }
  }
}

/** Null for a run that does not wait, or starts at any moment. */
export async function whyQueued({ store, settings }: WhyQueuedDeps, run: RunRecord): Promise<string | null> {
  if (run.state.at !== 'queued') return null
  if (run.state.why !== null) return run.state.why
  const ahead = await store.findAhead(run.id)
  if (ahead && (ahead.shares === 'lane' || ahead.users >= settings.jobs.perWorkDir)) return sayBehind(ahead)
  const running = await store.countRunning()
  const all = [...running.values()].reduce((sum, runs) => sum + runs, 0)
  if (all >= settings.concurrency) return sayNoFreeSlot(all, settings.concurrency)
  const own = running.get(run.agent) ?? 0
  const limit = Object.hasOwn(settings.agentConcurrency, run.agent)
    ? settings.agentConcurrency[run.agent]
    : undefined
  return limit !== undefined && own >= limit ? sayAgentBusy(run.agent, own, limit) : null
}
