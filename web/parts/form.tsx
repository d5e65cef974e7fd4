/** The fields of forms. */
import { useId } from 'react'

/** A labelled text field of a form. */
export function Field({
  name,
  note,
  value,
  onChange,
  mono = false,
  rows,
  ...rest
}: {
  name: string
  note?: string
  value: string
  onChange: (text: string) => void
  mono?: boolean
  /** More than one line. */
  rows?: number
  required?: boolean
  placeholder?: string
  maxLength?: number
  inputMode?: 'decimal' | 'numeric'
}) {
  const id = useId()
  const style = `mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5 ${mono ? 'font-mono text-small' : ''}`
  return (
    <label htmlFor={id}>
      {name} {note && <span className="text-muted">({note})</span>}
      {rows ? (
        <textarea
          {...rest}
          id={id}
          rows={rows}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={style}
        />
      ) : (
        <input
          {...rest}
          id={id}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={style}
        />
      )}
    </label>
  )
}

/** A labelled choice of a form. The empty value is the default. */
export function Choose<Value extends string>({
  name,
  value,
  options,
  onChange,
}: {
  name: string
  value: Value | ''
  options: readonly { value: Value | ''; word: string }[]
  onChange: (value: Value | '') => void
}) {
  return (
    <label>
      {name}
      <select
        value={value}
        onChange={(event) => onChange(event.target.value as Value | '')}
        className="mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.word}
          </option>
        ))}
      </select>
    </label>
  )
}
