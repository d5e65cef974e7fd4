/** The file `cooldown.json` in the state directory, from which agents learn which actions are still allowed. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CooldownLimit } from '../../core/rules/cooldown.ts'
import { describeCooldowns } from '../../core/rules/cooldown-state.ts'
import type { Store } from '../../store/store.ts'

/** Writes the file atomically. It is readable for everybody who may enter the directory. */
export async function writeCooldownFile(
  stateDir: string,
  store: Pick<Store, 'listActions'>,
  limits: readonly CooldownLimit[],
  now: Date,
): Promise<void> {
  const longest = Math.max(0, ...limits.map(({ perMs }) => perMs))
  const actions = await store.listActions({ since: new Date(now.getTime() - longest) })
  const state = describeCooldowns(limits, actions, now)
  // The parent directories are not created, so that a removed home is not created again.
  await mkdir(stateDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const partial = join(stateDir, `.cooldown-${randomUUID()}.json`)
  try {
    await writeFile(partial, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
    await rename(partial, join(stateDir, 'cooldown.json'))
  } finally {
    await rm(partial, { force: true })
  }
}

const SHORTEST_KEPT_MS = 30 * 86_400_000

/** Deletes actions that no rule counts any more. At least 30 days are kept for reference. */
export function sweepActions(
  store: Pick<Store, 'deleteActions'>,
  limits: readonly CooldownLimit[],
  now: Date,
): Promise<number> {
  const keptMs = Math.max(SHORTEST_KEPT_MS, ...limits.map(({ perMs }) => perMs))
  return store.deleteActions(new Date(now.getTime() - keptMs))
}
