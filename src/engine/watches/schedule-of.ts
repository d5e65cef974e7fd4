import { parseSchedule, type Schedule } from '../../core/schedule/schedule.ts'
import type { WatchRecord } from '../../store/watches/records.ts'

/** Null: the watch has none, and fires only when it is told to. */
export function scheduleOf({ definition }: Pick<WatchRecord, 'definition'>): Schedule | null {
  const parsed = parseSchedule(definition)
  return parsed.ok ? parsed.schedule : null
}
