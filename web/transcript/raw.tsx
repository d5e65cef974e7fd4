/** The events of a run as they are stored, with search and a filter by type. 100,000 of them are only as many lines. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { formatCount } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { formatClockSeconds } from '../format/time.ts'
import { Code } from './code.tsx'
import { NewChip, useFollowEnd } from './view.tsx'

const HIDDEN = new Set(['runId', 'seq', 'attemptId', 'at', 'type'])
const MAX_LINE_CHARS = 400

const bodyOf = (event: RunEvent) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => !HIDDEN.has(key)))

export function RawEvents({ events, version }: { events: readonly RunEvent[]; version: number }) {
  const scroller = useRef<HTMLDivElement>(null)
  const [search, setSearch] = useState('')
  const [type, setType] = useState('')
  const [open, setOpen] = useState<number | null>(null)
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
  const list = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 24,
    getItemKey: (index) => `${shown[index]?.runId}/${shown[index]?.seq}`,
    overscan: 20,
  })
  const size = list.getTotalSize()
  const { fresh, toEnd } = useFollowEnd(scroller, shown.length, size)
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
      <div className="relative min-h-0 flex-1">
        <div
          ref={scroller}
          role="log"
          aria-live="off"
          aria-label="Events"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          className="absolute inset-0 overflow-auto font-mono text-small"
        >
          <div className="relative" style={{ height: size }}>
            {list.getVirtualItems().map(({ index, key, start }) => {
              const event = shown[index]
              if (!event) return null
              const body = bodyOf(event)
              return (
                <div
                  key={key}
                  ref={list.measureElement}
                  data-index={index}
                  className="absolute top-0 left-0 w-full border-b border-line"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <button
                    type="button"
                    aria-expanded={open === event.seq}
                    onClick={() => setOpen(open === event.seq ? null : event.seq)}
                    className="flex w-full gap-3 px-3 py-0.5 text-left hover:bg-raised"
                  >
                    <span className="w-12 shrink-0 text-right text-muted">{event.seq}</span>
                    <span className="shrink-0 text-muted max-sm:hidden">{formatClockSeconds(event.at)}</span>
                    <span className="w-32 shrink-0 text-accent">{event.type}</span>
                    <span className="min-w-0 flex-1 truncate">
                      {inert(JSON.stringify(body).slice(0, MAX_LINE_CHARS))}
                    </span>
                  </button>
                  {open === event.seq && (
                    <div className="px-3 pb-2">
                      <Code code={JSON.stringify(body, null, 2)} language="json" />
                    </div>
                  )}
                </div>
              )
            })}
          </div>
        </div>
        <NewChip fresh={fresh} toEnd={toEnd} />
      </div>
    </div>
  )
}
