/**
 * Keeps the keyboard where it was when a row disappears: the row that takes its place gets the focus, or the one before
 * it, or the page. Browsers move the focus to the very beginning instead.
 */
import { useEffect } from 'react'

interface Place {
  element: HTMLElement
  list: HTMLElement
  index: number
}

const ROW = 'li, tr'
const CAN_FOCUS = 'a[href], button:not(:disabled), input, select, textarea, summary'

function placeOf(element: HTMLElement): Place | null {
  const row = element.closest<HTMLElement>(ROW)
  const list = row?.parentElement
  return row && list ? { element, list, index: [...list.children].indexOf(row) } : null
}

export function useKeepFocus(): void {
  useEffect(() => {
    const main = document.getElementById('main')
    if (!main) return
    let place: Place | null = null
    const note = (event: FocusEvent) => {
      place = event.target instanceof HTMLElement ? placeOf(event.target) : null
    }
    const observer = new MutationObserver(() => {
      if (!place) return
      if (place.element.isConnected) {
        // Rows above it may have come or gone.
        place = document.activeElement === place.element ? placeOf(place.element) : place
        return
      }
      if (document.activeElement !== document.body) return
      const { list, index } = place
      place = null
      const rows = list.isConnected ? [...list.children] : []
      const next = rows[index] ?? rows.at(-1)
      const target =
        next?.querySelector<HTMLElement>('[data-row]') ?? next?.querySelector<HTMLElement>(CAN_FOCUS)
      ;(target ?? main).focus({ preventScroll: target === undefined })
    })
    main.addEventListener('focusin', note)
    observer.observe(main, { childList: true, subtree: true })
    return () => {
      main.removeEventListener('focusin', note)
      observer.disconnect()
    }
  }, [])
}
