/**
 * Holds runs that crash the daemon. At start-up, before anything is adopted, the notes of earlier daemons
 * (process/handling.ts) are counted. A run during whose handling two of them died at the same step is settled as
 * `quarantined`: its agent is stopped, its job pauses, and people are notified. They can retry or cancel it. All other
 * runs continue.
 */
import type { Quarantined } from '../../contract/http.ts'
import { RunId } from '../../contract/ids.ts'
import { decideQuarantine } from '../../core/quarantine.ts'
import type { Handling } from '../../process/handling.ts'
import type { Store } from '../../store/store.ts'
import { type EndRunDeps, holdRun } from './end-run.ts'

export type QuarantineDeps = EndRunDeps & {
  store: Pick<Store, 'listQuarantined' | 'getRun'>
  handling: Pick<Handling, 'open' | 'forget'>
}

const SHOWN_MS = 7 * 86_400_000
const SHOWN = 10

export async function listQuarantined({ store, clock }: QuarantineDeps): Promise<Quarantined[]> {
  const runs = await store.listQuarantined(new Date(clock.now().getTime() - SHOWN_MS), SHOWN)
  return runs.flatMap(({ id, links, state }) =>
    state.at === 'settled'
      ? [{ runId: id, jobId: links.jobId, at: state.endedAt.toISOString(), why: state.outcome.message }]
      : [],
  )
}

export async function quarantine(deps: QuarantineDeps): Promise<void> {
  const suspected = Map.groupBy(deps.handling.open(), ({ runId }) => runId)
  for (const [id, suspicions] of suspected) {
    const run = RunId.is(id) ? await deps.store.getRun(id) : null
    const outcome = decideQuarantine(suspicions)
    if (run && run.state.at !== 'settled' && !outcome) {
      const steps = suspicions.map(({ step, at }) => `${step} ${at}`)
      deps.log.warn({ run: id, steps }, 'a daemon died while handling this run')
      continue
    }
    if (run && run.state.at !== 'settled' && outcome) {
      deps.log.error({ run: id }, outcome.message)
      await holdRun(deps, run, outcome)
    }
    deps.handling.forget(id)
  }
}
