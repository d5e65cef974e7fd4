/** Context window sizes per model, as agents last reported them. They are stored, so they survive restarts. */
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

/**
 * The window of the model that will run now, which may differ from the model that filled the session. null: unknown.
 */
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

/** If no model is named, the agent uses its default model. */
const keyOf = (agent: string, model: string | null) => `window:${agent}:${model ?? '(default)'}`
