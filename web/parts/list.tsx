/** What the pages with long lists share: the search field, the next page, and rows that stay where they are. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { formatCount } from '../format/amounts.ts'
import { Button } from './base.tsx'
import { steadyRows } from './steady-rows.ts'

const PAUSE_MS = 200

/** The search that is asked for: what was typed, after a short pause. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (text: string) => void
}) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder="Search…"
      maxLength={200}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className="h-7 w-56 rounded-md border border-line bg-surface px-2 max-sm:h-9 max-sm:w-full max-sm:flex-1"
    />
  )
}

export interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

export function ShowMore({ pages }: { pages: Pages }) {
  if (!pages.hasNextPage) return null
  return (
    <Button className="mt-3" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      Show more
    </Button>
  )
}

/** `order` names the search and the sorting: another one is shown at once. */
export function SteadyRows<Row>({
  rows,
  keyOf,
  order,
  children,
}: {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  order: string
  children: (rows: readonly Row[]) => ReactNode
}) {
  const [inside, setInside] = useState(false)
  const before = useRef<{ order: string; keys: readonly string[] }>({ order, keys: [] })
  const holds = inside && before.current.order === order && before.current.keys.length > 0
  const { shown, held } = holds ? steadyRows(rows, before.current.keys, keyOf) : { shown: [...rows], held: 0 }
  before.current = { order, keys: shown.map(keyOf) }
  const enter = () => setInside(true)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes where the pointer and the focus are.
    <div
      className="relative"
      onPointerEnter={enter}
      onPointerLeave={() => setInside(false)}
      onFocus={enter}
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setInside(false)}
    >
      {held > 0 && (
        <button
          type="button"
          onClick={() => setInside(false)}
          className="fade-in absolute -top-3 left-1/2 z-10 -translate-x-1/2 rounded-full border border-line bg-surface px-3 py-0.5 text-small text-accent shadow"
        >
          {formatCount(held)} new ↑
        </button>
      )}
      {children(shown)}
    </div>
  )
}
