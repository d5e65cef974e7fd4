/** The events of a run as they are stored, with search and a filter by type. 100,000 of them are only as many lines. */
import { useMemo, useState } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { formatCount } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { formatClockSeconds, formatExact } from '../format/time.ts'
import { Button } from '../parts/base.tsx'
import { FollowList } from '../parts/follow-list.tsx'
import { Code } from './code.tsx'

const HIDDEN = new Set(['runId', 'seq', 'attemptId', 'at', 'type'])
const MAX_LINE_CHARS = 400
const ROW_PX = 24

const bodyOf = (event: RunEvent) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => !HIDDEN.has(key)))

export function RawEvents({ events, version }: { events: readonly RunEvent[]; version: number }) {
  const [search, setSearch] = useState('')
  const [type, setType] = useState('')
  const [open, setOpen] = useState<RunEvent | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows in place; its version says so.
  const types = useMemo(() => [...new Set(events.map((event) => event.type))].sort(), [events, version])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows in place; its version says so.
  const shown = useMemo(() => {
    const words = search.trim().toLowerCase()
    if (words === '' && type === '') return events.slice()
    return events.filter(
      (event) =>
        (type === '' || event.type === type) &&
        (words === '' || JSON.stringify(event).toLowerCase().includes(words)),
    )
  }, [events, version, search, type])
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <input
          aria-label="Search in the events"
          placeholder="Search…"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          className="h-7 min-w-40 flex-1 rounded-md border border-line bg-surface px-2 max-sm:h-9"
        />
        <select
          aria-label="Type of event"
          value={type}
          onChange={(event) => setType(event.target.value)}
          className="h-7 rounded-md border border-line bg-surface px-1.5 max-sm:h-9"
        >
          <option value="">all types</option>
          {types.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span className="text-muted">
          {formatCount(shown.length)} of {formatCount(events.length)}
        </span>
      </div>
      <FollowList
        label="Events"
        count={shown.length}
        keyOf={(index) => `${shown[index]?.runId}/${shown[index]?.seq}`}
        rowPx={() => ROW_PX}
        overscan={6}
        className="font-mono text-small"
      >
        {(index) => {
          const event = shown[index]
          if (!event) return null
          return (
            <button
              type="button"
              aria-expanded={open === event}
              onClick={() => setOpen(open === event ? null : event)}
              className="flex w-full items-center gap-3 border-b border-line px-3 text-left hover:bg-raised aria-expanded:bg-raised"
              style={{ height: ROW_PX }}
            >
              <span className="w-12 shrink-0 text-right text-muted">{event.seq}</span>
              <span className="shrink-0 text-muted max-sm:hidden">{formatClockSeconds(event.at)}</span>
              <span className="w-32 shrink-0 truncate text-accent">{event.type}</span>
              <span className="min-w-0 flex-1 truncate">
                {inert(JSON.stringify(bodyOf(event)).slice(0, MAX_LINE_CHARS))}
              </span>
            </button>
          )
        }}
      </FollowList>
      {open && (
        <section
          aria-label={`Event ${open.seq}`}
          className="max-h-[45%] overflow-y-auto border-t border-line p-3"
        >
          <p className="mb-1 flex items-center gap-3 text-small">
            <span className="font-semibold">
              {open.seq} {open.type}
            </span>
            <span className="text-muted">{formatExact(open.at)}</span>
            <Button kind="bare" className="ml-auto" onClick={() => setOpen(null)}>
              Close
            </Button>
          </p>
          <Code code={JSON.stringify(bodyOf(open), null, 2)} language="json" maxHeight={false} />
        </section>
      )}
    </div>
  )
}
