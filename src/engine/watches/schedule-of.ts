/** When a watch is due. */
import type { Clock } from '../../core/clock.ts'
import { firstDue, parseSchedule, type Schedule } from '../../core/schedule/schedule.ts'
import type { WatchRecord } from '../../store/watches/records.ts'

/** Returns null if the watch has no schedule and fires only when it is triggered. */
export function scheduleOf({ definition }: Pick<WatchRecord, 'definition'>): Schedule | null {
  const parsed = parseSchedule(definition)
  return parsed.ok ? parsed.schedule : null
}

/** When a watch that is activated now is first due; null if it has no schedule. */
export function firstDueOf(
  { clock, random }: { clock: Clock; random: () => number },
  watch: Pick<WatchRecord, 'definition'>,
): WatchRecord['due'] {
  const schedule = scheduleOf(watch)
  if (!schedule) return null
  const { jitterMs = 0 } = watch.definition
  const { dueAt, fireAt } = firstDue(schedule, { now: clock.now(), jitterMs, random: random() })
  return { at: dueAt, fireAt }
}
