/**
 * The keyboard. j and k go through the rows of a page (elements with `data-row`), Enter opens one, Esc leaves it; g and
 * a letter goes to a page. Keys that are typed into a field belong to the field.
 */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Dialog } from './base.tsx'
import { PLACES } from './places.ts'

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

function move(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next =
    rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

export function useKeys({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }): void {
  const navigate = useNavigate()
  const going = useRef(0)
  const handlers = useRef({ openPalette, openHelp })
  handlers.current = { openPalette, openHelp }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        handlers.current.openPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
      if (isTyping(event.target)) {
        if (event.key === 'Escape') (event.target as HTMLElement).blur()
        return
      }
      const goes = Date.now() - going.current < 1500
      going.current = 0
      const place = goes ? PLACES.find(({ key }) => key === event.key) : undefined
      if (place) void navigate({ to: place.to })
      else if (event.key === 'g') going.current = Date.now()
      else if (event.key === 'j') move(1)
      else if (event.key === 'k') move(-1)
      else if (event.key === '?') handlers.current.openHelp()
      else if (event.key === '/') handlers.current.openPalette()
      else if (event.key === 'Escape' && document.activeElement instanceof HTMLElement)
        document.activeElement.blur()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate])
}

const KEYS = [
  ['Ctrl K or /', 'search, or do something'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field or a row'],
  ...PLACES.map(({ key, name }) => [`g ${key}`, name] as const),
  ['Ctrl Enter', 'send a message'],
  ['?', 'these keys'],
] as const

export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys" open={open} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1">
        {KEYS.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded bg-code px-1.5 py-0.5">{key}</kbd>
            </dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
