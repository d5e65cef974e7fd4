/**
 * The keyboard. j and k go through the rows of a page (elements with `data-row`), Enter opens one, Esc leaves the field
 * or the row, and then the page of one thing, back to where the reader came from; g and a letter goes to a page. Keys
 * that are typed into a field belong to the field, and a message that is half written keeps its page.
 */
import { useNavigate, useRouter } from '@tanstack/react-router'
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

/** The list that has the thing which is shown at this path; undefined: the page shows no single thing. */
const LISTS = {
  conversations: '/conversations',
  jobs: '/jobs',
  runs: '/',
  cycles: '/watches',
  watches: '/watches',
  sessions: '/sessions',
} as const
const listOf = (path: string) => {
  const [, place = '', id] = path.split('/')
  return id ? LISTS[place as keyof typeof LISTS] : undefined
}

const isWriting = () =>
  [...document.querySelectorAll<HTMLTextAreaElement>('main textarea')].some(({ value }) => value !== '')

export function useKeys({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }): void {
  const navigate = useNavigate()
  const { history } = useRouter()
  const going = useRef(0)
  const handlers = useRef({ openPalette, openHelp })
  handlers.current = { openPalette, openHelp }
  useEffect(() => {
    const leave = () => {
      const focused = document.activeElement
      const list = listOf(history.location.pathname)
      if (focused instanceof HTMLElement && focused !== document.body && focused.id !== 'main') focused.blur()
      else if (list === undefined || isWriting()) return
      else if (history.canGoBack()) history.back()
      else void navigate({ to: list })
    }
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
      else if (event.key === 'Escape') leave()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate, history])
}

const KEYS = [
  ['Ctrl K or /', 'search, or do something'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field, a row, or a page'],
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
