/** Times that stay true while the page is open. One timer for all of them. */
import { useSyncExternalStore } from 'react'
import { formatDistance, formatExact, formatSpan, nowMs } from '../format/time.ts'

const listeners = new Set<() => void>()
let second = Math.floor(nowMs() / 1000)
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    second = Math.floor(nowMs() / 1000)
    for (const one of listeners) one()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The daemon's time, in milliseconds; renews the component every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => second) * 1000

/** Such as `3m ago` or `in 6m`; exact on hover. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={formatExact(at)} className={className}>
      {formatDistance(at, now)}
    </time>
  )
}

/** How long it has taken so far, or took. */
export function Elapsed({ from, to }: { from: string; to?: string | null }) {
  const now = useNow()
  const ms = (to ? Date.parse(to) : now) - Date.parse(from)
  return (
    <time title={`since ${formatExact(from)}`}>{formatSpan(to ? ms : Math.floor(ms / 1000) * 1000)}</time>
  )
}
