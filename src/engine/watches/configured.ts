/**
 * Makes the watches in the store those of the configuration. One that is still as it was keeps its place in time, so
 * that what it missed is caught up with; whether it is paused, people decide, unless the configuration pauses it.
 */
import { WatchId } from '../../contract/ids.ts'
import type { ConfiguredWatch } from '../../core/watch/definition.ts'
import type { WatchRecord } from '../../store/watches/records.ts'
import type { EngineParts } from '../parts.ts'
import type { Timetable } from '../timetable/timetable.ts'
import { scheduleOf } from './schedule-of.ts'

export async function takeConfigured(parts: EngineParts, timetable: Timetable): Promise<void> {
  const { store, clock, settings } = parts
  const known = new Map((await store.listWatches()).map((watch) => [watch.name, watch]))
  for (const configured of settings.watches)
    await take(parts, timetable, configured, known.get(configured.name))
  const names = new Set(settings.watches.map(({ name }) => name))
  for (const watch of known.values()) {
    if (watch.source !== 'config' || names.has(watch.name)) continue
    await store.removeWatch(watch.id, clock.now())
    parts.log.info({ watch: watch.name }, 'a watch is no longer configured')
  }
}

async function take(
  { store, clock }: EngineParts,
  timetable: Timetable,
  { name, definition, paused }: ConfiguredWatch,
  before: WatchRecord | undefined,
): Promise<void> {
  const schedule = scheduleOf({ definition })
  const first = () => (schedule ? timetable.firstDue({ definition }, schedule) : null)
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
