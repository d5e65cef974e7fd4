/**
 * Updates the watches in the store from the configuration. An unchanged watch keeps its due time, so that a missed
 * cycle is caught up. A watch that a person paused stays paused, and the configuration can pause it too.
 */
import { WatchId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { ConfiguredWatch } from '../../core/watch/definition.ts'
import type { Store } from '../../store/store.ts'
import type { WatchRecord } from '../../store/watches/records.ts'
import type { Log } from '../base/log.ts'
import { firstDueOf, scheduleOf } from './schedule-of.ts'

export interface ConfiguredDeps {
  store: Pick<Store, 'listWatches' | 'addWatch' | 'updateWatch' | 'removeWatch'>
  clock: Clock
  log: Log
  /** In [0, 1). */
  random: () => number
  settings: { watches: readonly ConfiguredWatch[] }
}

export async function takeConfigured(deps: ConfiguredDeps): Promise<void> {
  const { store, clock, settings } = deps
  const known = new Map((await store.listWatches()).map((watch) => [watch.name, watch]))
  for (const configured of settings.watches) await take(deps, configured, known.get(configured.name))
  const names = new Set(settings.watches.map(({ name }) => name))
  for (const watch of known.values()) {
    if (watch.source !== 'config' || names.has(watch.name)) continue
    await store.removeWatch(watch.id, clock.now())
    deps.log.info({ watch: watch.name }, 'a watch was removed from the configuration')
  }
}

async function take(
  deps: ConfiguredDeps,
  { name, definition, paused }: ConfiguredWatch,
  before: WatchRecord | undefined,
): Promise<void> {
  const { store, clock } = deps
  const schedule = scheduleOf({ definition })
  const first = () => firstDueOf(deps, { definition })
  if (!before) {
    const now = clock.now()
    await store.addWatch({
      id: WatchId.create(now),
      name,
      source: 'config',
      definition,
      state: paused ? 'paused' : 'active',
      due: paused ? null : first(),
      memory: null,
      cycles: 0,
      createdAt: now,
      updatedAt: now,
    })
    return
  }
  const state = paused ? 'paused' : before.state
  const sameTimes = JSON.stringify(schedule) === JSON.stringify(scheduleOf(before))
  const due = state === 'paused' ? null : sameTimes && before.due ? before.due : first()
  const same =
    before.source === 'config' &&
    before.state === state &&
    JSON.stringify(before.definition) === JSON.stringify(definition) &&
    before.due?.at.getTime() === due?.at.getTime()
  if (!same) await store.updateWatch(before.id, { definition, source: 'config', state, due }, clock.now())
}
