/** `cooldown.json` in the state directory: agents read it to know what they may still do. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CooldownLimit } from '../../core/policy/cooldown.ts'
import { describeCooldowns } from '../../core/policy/cooldown-state.ts'
import type { Store } from '../../store/store.ts'

/** Appears in one step, so that nobody reads half of it. Readable for those whom the directory lets in. */
export async function writeCooldownFile(
  stateDir: string,
  store: Pick<Store, 'listActions'>,
  limits: readonly CooldownLimit[],
  now: Date,
): Promise<void> {
  const longest = Math.max(0, ...limits.map(({ perMs }) => perMs))
  const actions = await store.listActions({ since: new Date(now.getTime() - longest) })
  const state = describeCooldowns(limits, actions, now)
  // Not with its parents: a home that was removed is not made again.
  await mkdir(stateDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const partial = join(stateDir, `.cooldown-${randomUUID()}.json`)
  try {
    await writeFile(partial, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o644 })
    await rename(partial, join(stateDir, 'cooldown.json'))
  } finally {
    await rm(partial, { force: true })
  }
}

const SHORTEST_KEPT_MS = 30 * 86_400_000

/** Forgets actions that count for no rule any more; at least 30 days are kept for those who look back. */
export function sweepActions(
  store: Pick<Store, 'deleteActions'>,
  limits: readonly CooldownLimit[],
  now: Date,
): Promise<number> {
  const keptMs = Math.max(SHORTEST_KEPT_MS, ...limits.map(({ perMs }) => perMs))
  return store.deleteActions(new Date(now.getTime() - keptMs))
}
