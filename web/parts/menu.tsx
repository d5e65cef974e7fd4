/** A button with further actions. It closes when one is chosen, when the focus leaves it, and with Esc. */
import { useEffect, useId, useRef, useState } from 'react'
import { Button } from './base.tsx'

export interface MenuChoice {
  word: string
  danger?: boolean
  disabled?: boolean
  onChoose: () => void
}

export function Menu({
  label,
  word = 'More…',
  choices,
  className = '',
}: {
  /** What the actions are about. */
  label: string
  word?: string
  choices: readonly MenuChoice[]
  className?: string
}) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    if (!open) return
    box.current?.querySelector<HTMLElement>('[role=menuitem]:not(:disabled)')?.focus()
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false)
    }
    window.addEventListener('pointerdown', away)
    return () => window.removeEventListener('pointerdown', away)
  }, [open])
  const close = () => {
    setOpen(false)
    box.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus()
  }
  const move = (step: 1 | -1) => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)') ?? [])]
    const at = items.indexOf(document.activeElement as HTMLElement)
    items[(at + step + items.length) % items.length]?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the menu inside.
    <div
      ref={box}
      className={`relative ${className}`}
      onKeyDown={(event) => {
        if (!open) return
        if (event.key === 'Escape') close()
        else if (event.key === 'ArrowDown') move(1)
        else if (event.key === 'ArrowUp') move(-1)
        else return
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      <Button
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={`${label}: ${word}`}
        onClick={() => setOpen(!open)}
      >
        {word}
      </Button>
      {open && (
        <div
          id={id}
          role="menu"
          aria-label={label}
          className="absolute top-full right-0 z-20 mt-1 flex min-w-52 flex-col rounded-lg border border-line bg-surface p-1 shadow-lg"
        >
          {choices.map(({ word: choice, danger, disabled, onChoose }) => (
            <button
              key={choice}
              type="button"
              role="menuitem"
              tabIndex={-1}
              disabled={disabled}
              onClick={() => {
                close()
                onChoose()
              }}
              className={`rounded-md px-3 py-1.5 text-left whitespace-nowrap hover:bg-raised focus:bg-raised disabled:opacity-50 max-sm:py-2.5 ${danger ? 'text-fail' : ''}`}
            >
              {choice}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
