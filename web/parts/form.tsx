/** The fields of forms. The label is beside the control, so that its name is the label alone. */
import { type ReactNode, useId } from 'react'

const STYLE = 'mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5'

/** A labelled text field. */
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
  const control = {
    ...rest,
    id,
    value,
    className: `${STYLE} ${mono ? 'font-mono text-small' : ''}`,
    'aria-describedby': note ? `${id}-note` : undefined,
  }
  return (
    <Labelled id={id} name={name} note={note}>
      {rows ? (
        <textarea {...control} rows={rows} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input {...control} onChange={(event) => onChange(event.target.value)} />
      )}
    </Labelled>
  )
}

/** A labelled choice. The empty value is the default. */
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
  const id = useId()
  return (
    <Labelled id={id} name={name}>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as Value | '')}
        className={STYLE}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.word}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

function Labelled({
  id,
  name,
  note,
  children,
}: {
  id: string
  name: string
  note?: string | undefined
  children: ReactNode
}) {
  return (
    <div>
      <label htmlFor={id}>{name}</label>
      {note && (
        <span id={`${id}-note`} className="text-muted">
          {' '}
          ({note})
        </span>
      )}
      {children}
    </div>
  )
}
