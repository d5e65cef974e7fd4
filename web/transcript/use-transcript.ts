/** The transcript of a growing list of events. */
import { useMemo } from 'react'
import type { EventLog } from '../data/run-events.ts'
import { type Item, Transcript } from './items.ts'

export function useTranscript(log: EventLog, version: number): readonly Item[] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another log is another transcript.
  const transcript = useMemo(() => new Transcript(), [log])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log grows in place; its version says so.
  return useMemo(() => {
    transcript.applyAll(log.events)
    return transcript.items
  }, [transcript, log, version])
}
