/** Tabs for two or three views of one thing. */
import { useId } from 'react'

export function Tabs<Name extends string>({
  names,
  current,
  onChange,
  label,
}: {
  names: readonly { name: Name; word: string }[]
  current: Name
  onChange: (name: Name) => void
  label: string
}) {
  const id = useId()
  return (
    <div role="tablist" aria-label={label} className="flex gap-1">
      {names.map(({ name, word }) => (
        <button
          key={name}
          id={`${id}-${name}`}
          type="button"
          role="tab"
          aria-selected={current === name}
          tabIndex={current === name ? 0 : -1}
          onClick={() => onChange(name)}
          onKeyDown={(event) => {
            const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
            if (step === 0) return
            const at = names.findIndex((one) => one.name === current)
            const next = names[(at + step + names.length) % names.length]
            if (!next) return
            onChange(next.name)
            document.getElementById(`${id}-${next.name}`)?.focus()
          }}
          className="rounded-md px-2.5 py-1 text-small text-muted hover:bg-raised aria-selected:bg-raised aria-selected:font-medium aria-selected:text-text"
        >
          {word}
        </button>
      ))}
    </div>
  )
}
