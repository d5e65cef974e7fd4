/**
 * A long list that grows at its end: messages, a transcript, events. Only what is on the screen is drawn. The list
 * follows its end while the reader is there; otherwise it stays where it is and counts what is new.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'

const NEAR_END_PX = 48

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight < NEAR_END_PX

/** `size` changes whenever the content may have grown. */
function useFollowEnd(scroller: RefObject<HTMLElement | null>, count: number, size: number) {
  const pinned = useRef(true)
  const last = useRef(0)
  const seen = useRef(count)
  const [fresh, setFresh] = useState(0)
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    // Content that grows moves the end away from the reader; only the reader can go up.
    const note = () => {
      const top = element.scrollTop
      if (isNearEnd(element)) pinned.current = true
      else if (top < last.current - 1) pinned.current = false
      last.current = top
      if (pinned.current) setFresh(0)
    }
    element.addEventListener('scroll', note, { passive: true })
    return () => element.removeEventListener('scroll', note)
  }, [scroller])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed size is the reason to scroll.
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    // The reader may have gone up a moment ago: the event that says so arrives after this.
    if (element.scrollTop < last.current - 1 && !isNearEnd(element)) pinned.current = false
    if (pinned.current) {
      element.scrollTop = element.scrollHeight
      last.current = element.scrollTop
      seen.current = count
    } else if (count > seen.current) setFresh(count - seen.current)
  }, [count, size, scroller])
  const toEnd = useCallback(() => {
    const element = scroller.current
    if (!element) return
    pinned.current = true
    element.scrollTop = element.scrollHeight
    last.current = element.scrollTop
    setFresh(0)
  }, [scroller])
  return { fresh, toEnd, pinned }
}

export interface FollowListHandle {
  toEnd: () => void
}

export function FollowList({
  label,
  count,
  keyOf,
  rowPx,
  measured = false,
  overscan = 8,
  className = '',
  innerClassName = '',
  rowClassName = '',
  empty,
  ref,
  children,
}: {
  label: string
  count: number
  keyOf: (index: number) => string | number
  /** The height of a row, or a guess if rows are measured. */
  rowPx: (index: number) => number
  /** Rows of one height are not measured: measuring one of 100,000 would move all after it. */
  measured?: boolean
  overscan?: number
  className?: string
  innerClassName?: string
  rowClassName?: string
  /** Shown if there are no rows. */
  empty?: ReactNode
  ref?: RefObject<FollowListHandle | null>
  children: (index: number) => ReactNode
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: rowPx,
    getItemKey: keyOf,
    overscan,
  })
  const size = list.getTotalSize()
  const { fresh, toEnd, pinned } = useFollowEnd(scroller, count, size)
  // While the end is followed, only the reader may move the list up; otherwise the list keeps its rows in place itself.
  list.shouldAdjustScrollPositionOnItemSizeChange = pinned.current ? () => false : undefined
  useImperativeHandle(ref, () => ({ toEnd }), [toEnd])
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        className={`absolute inset-0 overflow-y-auto overscroll-contain ${className}`}
      >
        <div className={`relative ${innerClassName}`} style={{ height: size }}>
          {list.getVirtualItems().map(({ index, key, start }) => (
            <div
              key={key}
              {...(measured ? { ref: list.measureElement } : {})}
              data-index={index}
              className={`absolute top-0 left-0 w-full ${rowClassName}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              {children(index)}
            </div>
          ))}
        </div>
        {count === 0 && empty}
      </div>
      {fresh > 0 && (
        <button
          type="button"
          onClick={toEnd}
          className="fade-in absolute bottom-3 left-1/2 z-10 -translate-x-1/2 rounded-full border border-line bg-surface px-3 py-1 text-small shadow"
        >
          {fresh} new ↓
        </button>
      )}
    </div>
  )
}
