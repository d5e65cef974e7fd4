/** The transcript of a run or a job, as it grows. */
import { type EventSourceOf, useEvents } from '../data/run-events.ts'
import { type Item, Transcript } from './items.ts'

const create = () => new Transcript()

/** The list is the same each time, and grows in place. */
export function useTranscript(of: EventSourceOf): { items: readonly Item[]; error: unknown } {
  const { log } = useEvents(of, create)
  return { items: log.reader.items, error: log.error }
}
