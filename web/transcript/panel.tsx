/** The transcript of a run or a job: for reading, or as the events that it is made of; both can be searched. */
import { useState } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { useView } from '../data/address.ts'
import { type EventSourceOf, useEvents } from '../data/run-events.ts'
import { formatCount } from '../format/amounts.ts'
import { Tabs } from '../parts/tabs.tsx'
import { type Item, textOfItem } from './items.ts'
import { RawEvents } from './raw.tsx'
import { useTranscript } from './use-transcript.ts'
import { TranscriptView } from './view.tsx'

const VIEWS = [
  { name: 'read', word: 'Transcript' },
  { name: 'raw', word: 'Events' },
] as const

export function TranscriptPanel({ of, live }: { of: EventSourceOf; live: boolean }) {
  const [view, setView] = useView()
  const [search, setSearch] = useState('')
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-2 py-1.5">
        <Tabs label="View" names={VIEWS} current={view} onChange={setView} />
        {view === 'read' && (
          <input
            type="search"
            aria-label="Search in the transcript"
            placeholder="Search…"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            className="h-7 w-44 rounded-md border border-line bg-surface px-2 max-sm:h-9"
          />
        )}
      </div>
      {view === 'read' ? <Readable of={of} live={live} search={search} /> : <Raw of={of} />}
    </>
  )
}

function Readable({ of, live, search }: { of: EventSourceOf; live: boolean; search: string }) {
  const { items, error } = useTranscript(of)
  const words = search.trim().toLowerCase()
  const shown = words === '' ? items : items.filter((item: Item) => textOfItem(item).includes(words))
  return (
    <>
      {error !== null && <p className="px-3 py-1 text-fail">The events could not be read.</p>}
      {words !== '' && (
        <p role="status" className="px-3 py-1 text-small text-muted">
          {formatCount(shown.length)} of {formatCount(items.length)} steps
        </p>
      )}
      <TranscriptView items={shown} live={live} label="Transcript" />
    </>
  )
}

class AllEvents {
  readonly events: RunEvent[] = []
  take(event: RunEvent): void {
    this.events.push(event)
  }
}
const createAll = () => new AllEvents()

function Raw({ of }: { of: EventSourceOf }) {
  const { log, version } = useEvents(of, createAll)
  return (
    <>
      {log.error !== null && <p className="px-3 py-1 text-fail">The events could not be read.</p>}
      <RawEvents events={log.reader.events} version={version} />
    </>
  )
}
