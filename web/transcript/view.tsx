/** A transcript for reading. Only what is on the screen is drawn; it follows the end while the reader is there. */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { inert } from '../format/text.ts'
import { formatClockSeconds, formatExact } from '../format/time.ts'
import { standingOfOutcome } from '../format/words.ts'
import { Mark } from '../parts/base.tsx'
import { type Item, outcomeText } from './items.ts'
import { Markdown } from './markdown.tsx'
import { ToolLine } from './tool.tsx'

export const ItemView = memo(function ItemView({ item, live }: { item: Item; live: boolean }): ReactNode {
  switch (item.kind) {
    case 'text':
      return (
        <div className={`py-1.5 ${item.nested ? 'ml-5 border-l border-line pl-3 text-muted' : 'px-2'}`}>
          <Markdown text={item.text} />
          {item.open && live && <span className="sr-only">…</span>}
        </div>
      )
    case 'thinking':
      return <Thinking text={item.text} open={item.open && live} />
    case 'tool':
      return <ToolLine tool={item} live={live} />
    case 'line':
      return (
        <p className="flex items-baseline gap-1 px-2 py-0.5 text-small text-muted">
          {item.standing ? (
            <Mark standing={item.standing} label="" />
          ) : (
            <span className="w-4 text-center">·</span>
          )}
          <span className="min-w-0">
            {inert(item.text).slice(0, 2000)}
            {item.detail && (
              <span className="ml-2 font-mono break-all">{inert(item.detail).slice(0, 500)}</span>
            )}
          </span>
          {item.at && (
            <time className="ml-auto shrink-0 pl-3 text-label" title={formatExact(item.at)}>
              {formatClockSeconds(item.at)}
            </time>
          )}
        </p>
      )
    case 'attempt':
      return (
        <p className="mt-2 mb-1 flex items-center gap-3 px-2 text-label text-muted">
          <span className="font-semibold tracking-wide uppercase">attempt {item.number}</span>
          <span>{item.text}</span>
          <span className="h-px flex-1 bg-line" />
          <time title={formatExact(item.at)}>{formatClockSeconds(item.at)}</time>
        </p>
      )
    case 'end':
      return (
        <p className="flex items-baseline gap-1 px-2 py-1.5 text-small">
          <Mark standing={standingOfOutcome(item.outcome.name)} label="" />
          <span>
            {item.of === 'attempt' ? 'attempt ended: ' : ''}
            {inert(outcomeText(item.outcome))}
          </span>
          <time className="ml-auto shrink-0 text-label text-muted" title={formatExact(item.at)}>
            {formatClockSeconds(item.at)}
          </time>
        </p>
      )
  }
})

function Thinking({ text, open }: { text: string; open: boolean }) {
  const [shown, setShown] = useState(false)
  return (
    <div className="px-2 py-0.5">
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
        className="text-small text-muted italic hover:text-text"
      >
        <span aria-hidden="true">{shown ? '▾' : '▸'} </span>
        {open ? 'thinking…' : 'thought'}
        {!shown && text && (
          <span className="ml-2 not-italic opacity-80">
            {inert(text.trim().split('\n')[0] ?? '').slice(0, 80)}
          </span>
        )}
      </button>
      {shown && (
        <div className="mt-1 border-l border-line pl-3 text-muted">
          <Markdown text={text} />
        </div>
      )}
    </div>
  )
}

const NEAR_END_PX = 48

/**
 * Keeps a scrolled list at its end while the reader is there; otherwise it counts what is new. `size` changes whenever
 * the content may have grown.
 */
export function useFollowEnd(scroller: RefObject<HTMLElement | null>, count: number, size: number) {
  const pinned = useRef(true)
  const seen = useRef(count)
  const [fresh, setFresh] = useState(0)
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    let last = element.scrollTop
    // Content that grows moves the end away from the reader; only the reader can go up.
    const note = () => {
      const top = element.scrollTop
      if (element.scrollHeight - top - element.clientHeight < NEAR_END_PX) pinned.current = true
      else if (top < last - 1) pinned.current = false
      last = top
      if (pinned.current) setFresh(0)
    }
    element.addEventListener('scroll', note, { passive: true })
    return () => element.removeEventListener('scroll', note)
  }, [scroller])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed size is the reason to scroll.
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    if (pinned.current) {
      element.scrollTop = element.scrollHeight
      seen.current = count
    } else if (count > seen.current) setFresh(count - seen.current)
  }, [count, size, scroller])
  const toEnd = useCallback(() => {
    const element = scroller.current
    if (!element) return
    pinned.current = true
    element.scrollTop = element.scrollHeight
    setFresh(0)
  }, [scroller])
  return { fresh, toEnd }
}

export function NewChip({ fresh, toEnd }: { fresh: number; toEnd: () => void }) {
  if (fresh === 0) return null
  return (
    <button
      type="button"
      onClick={toEnd}
      className="fade-in absolute bottom-3 left-1/2 z-10 -translate-x-1/2 rounded-full border border-line bg-surface px-3 py-1 text-small shadow"
    >
      {fresh} new ↓
    </button>
  )
}

export function TranscriptView({
  items,
  live,
  label,
}: {
  items: readonly Item[]
  live: boolean
  label: string
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 32,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 12,
  })
  const size = list.getTotalSize()
  const { fresh, toEnd } = useFollowEnd(scroller, items.length, size)
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-label={label}
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        className="absolute inset-0 overflow-y-auto overscroll-contain px-1 py-2"
      >
        <div className="relative w-full" style={{ height: size }}>
          {list.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index]
            return item ? (
              <div
                key={key}
                ref={list.measureElement}
                data-index={index}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${start}px)` }}
              >
                <ItemView item={item} live={live} />
              </div>
            ) : null
          })}
        </div>
      </div>
      <NewChip fresh={fresh} toEnd={toEnd} />
    </div>
  )
}
