/** How large the context of a model is, as the agents themselves last reported it; remembered across restarts. */
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

/** The window of the model that is to run now, which need not be the one that filled the session. null: not known yet. */
export async function readWindow(
  store: Pick<Store, 'getFact'>,
  run: RunRecord,
  usual: string | null,
): Promise<number | null> {
  const known = await store.getFact(keyOf(run.agent, run.model ?? usual))
  return known === null ? null : Number(known)
}

export async function noteWindow(
  store: Pick<Store, 'getFact' | 'putFact'>,
  run: RunRecord,
  usual: string | null,
  window: number | null,
): Promise<void> {
  if (window === null) return
  const key = keyOf(run.agent, run.model ?? usual)
  if ((await store.getFact(key)) !== String(window)) await store.putFact(key, String(window))
}

/** Where no model is named, the agent chooses one itself: its default. */
const keyOf = (agent: string, model: string | null) => `window:${agent}:${model ?? '(default)'}`
