/** The small parts that every page is made of. */
import { Link } from '@tanstack/react-router'
import {
  type ButtonHTMLAttributes,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { errorText } from '../data/client.ts'
import { inert, shorten } from '../format/text.ts'
import type { Standing } from '../format/words.ts'

const MARKS: Readonly<Record<Standing, { shape: string; colour: string; word: string }>> = {
  work: { shape: '●', colour: 'text-accent', word: 'at work' },
  wait: { shape: '◐', colour: 'text-wait', word: 'parked' },
  ask: { shape: '◆', colour: 'text-ask', word: 'needs you' },
  fail: { shape: '✕', colour: 'text-fail', word: 'failed' },
  done: { shape: '✓', colour: 'text-ok', word: 'done' },
  off: { shape: '○', colour: 'text-muted', word: 'cancelled' },
}

/** A shape and a colour. Its accessible name is a word for the state, or empty where the word is beside it. */
export function Mark({ standing, label }: { standing: Standing; label?: string }) {
  const { shape, colour, word } = MARKS[standing]
  const name = label ?? word
  const style = `${colour} inline-block w-4 shrink-0 text-center`
  if (name === '') {
    return (
      <span className={style} aria-hidden="true">
        {shape}
      </span>
    )
  }
  return (
    <span className={style} role="img" aria-label={name}>
      {shape}
    </span>
  )
}

export function StateWord({ standing, children }: { standing: Standing; children: ReactNode }) {
  const { shape, colour } = MARKS[standing]
  return (
    <span className={`${colour} whitespace-nowrap`}>
      <span aria-hidden="true">{shape}</span> {children}
    </span>
  )
}

const KINDS = {
  plain: 'border-line bg-surface hover:bg-raised',
  main: 'border-accent bg-accent text-bg hover:opacity-90',
  ask: 'border-ask bg-ask text-bg hover:opacity-90',
  danger: 'border-line bg-surface text-fail hover:bg-fail-soft',
  bare: 'border-transparent hover:bg-raised text-muted hover:text-text',
} as const

export function Button({
  kind = 'plain',
  busy = false,
  ref,
  className = '',
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: keyof typeof KINDS
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}) {
  return (
    <button
      type="button"
      ref={ref}
      {...rest}
      aria-busy={busy || undefined}
      disabled={rest.disabled || busy}
      className={`inline-flex min-h-7 items-center justify-center gap-1.5 rounded-md border px-2.5 text-small font-medium whitespace-nowrap motion-safe:transition-colors disabled:opacity-50 max-sm:min-h-9 ${KINDS[kind]} ${className}`}
    >
      {children}
    </button>
  )
}

export function Section({
  title,
  count,
  standing,
  action,
  children,
}: {
  title: string
  count?: number
  standing?: Standing
  action?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="mb-6">
      <div className="mb-1.5 flex min-h-7 items-center gap-2">
        <h2 id={id} className="text-label font-semibold tracking-wider text-muted uppercase">
          {standing && count ? <Mark standing={standing} label="" /> : null}
          {title}
          {count !== undefined && <span className="ml-1.5 font-normal">{count}</span>}
        </h2>
        <div className="ml-auto flex items-center gap-2">{action}</div>
      </div>
      {children}
    </section>
  )
}

const SETTLE_MS = 400

/**
 * True for a moment after `what` has changed: rows have moved, and a click that was meant for one of them would hit
 * another.
 */
function useSettling(what: string): boolean {
  const [settled, setSettled] = useState(what)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(what), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [what])
  return settled !== what
}

/** A bordered list; the rows have lines between them. `settles` names the rows, if clicks on them have consequences. */
export function Rows({
  children,
  label,
  settles = '',
}: {
  children: ReactNode
  label?: string
  settles?: string
}) {
  const settling = useSettling(settles)
  return (
    <ul
      aria-label={label}
      className={`divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface ${settling ? 'pointer-events-none' : ''}`}
    >
      {children}
    </ul>
  )
}

export function Empty({ children, command }: { children: ReactNode; command?: string }) {
  return (
    <div className="rounded-lg border border-dashed border-line px-4 py-5 text-muted">
      <p>{children}</p>
      {command && (
        <p className="mt-2">
          <Copyable text={command} />
        </p>
      )}
    </div>
  )
}

/** A command that is copied whole, also if it is shown shortened. */
export function Copyable({ text, shown = text }: { text: string; shown?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      title={`Copy: ${inert(text)}`}
      onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}
      className="inline-flex max-w-full items-center gap-2 rounded-md bg-code px-2 py-0.5 text-left hover:bg-raised"
    >
      <code className="truncate">{inert(shown)}</code>
      <span className="text-label text-muted" aria-live="polite">
        {copied ? 'copied' : 'copy'}
      </span>
    </button>
  )
}

/** One line that is shortened in the middle; the whole text is its title and its accessible name. */
export function Middle({ text, max = 60, mono = false }: { text: string; max?: number; mono?: boolean }) {
  const whole = inert(text)
  const short = shorten(text, max)
  const font = mono ? 'font-mono text-small' : ''
  if (short === whole) return <span className={font}>{short}</span>
  return (
    <span className={font} title={whole.slice(0, 2000)}>
      <span aria-hidden="true">{short}</span>
      <span className="sr-only">{whole.slice(0, 2000)}</span>
    </span>
  )
}

/** `retry` is given where a page cannot be shown; elsewhere something that was asked for was refused. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const { message, hint, code } = errorText(error)
  if (retry && (code === 'not-found' || code === 'bad-request')) {
    return (
      <div role="alert" className="rounded-lg border border-line bg-surface px-4 py-5">
        <p className="font-medium">
          {code === 'not-found' ? 'This does not exist.' : 'This address is not valid.'}
        </p>
        <p className="mt-1 text-muted">{inert(message)}</p>
        <p className="mt-3">
          <Link to="/" className="text-accent underline">
            Go to Now
          </Link>
        </p>
      </div>
    )
  }
  return (
    <div role="alert" className="rounded-lg border border-fail bg-fail-soft px-4 py-3">
      <p className="font-medium text-fail">{inert(message)}</p>
      {hint && <p className="mt-1 text-muted">{inert(hint)}</p>}
      {retry && (
        <Button className="mt-2" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Grey bars in the geometry of what will be there. */
export function Skeleton({ rows = 3, height = 40 }: { rows?: number; height?: number }) {
  return (
    <div
      role="status"
      aria-label="loading"
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
    >
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars have no identity.
        <div key={index} className="flex items-center px-3" style={{ height }}>
          <div className="h-2.5 rounded bg-raised" style={{ width: `${30 + ((index * 29) % 50)}%` }} />
        </div>
      ))}
    </div>
  )
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-6 gap-3 py-0.5">
      <dt className="w-24 shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 flex-1">{children}</dd>
    </div>
  )
}

export function Dialog({
  title,
  open,
  onClose,
  children,
}: {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (open && dialog && !dialog.open) dialog.showModal()
    if (!open && dialog?.open) dialog.close()
  }, [open])
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      className="w-[min(560px,calc(100vw-32px))] rounded-lg border border-line bg-surface p-4 shadow-lg"
    >
      {open && (
        <>
          <h2 id={id} className="mb-3 text-title font-semibold">
            {title}
          </h2>
          {children}
        </>
      )}
    </dialog>
  )
}

export function Badge({ children, standing = 'off' }: { children: ReactNode; standing?: Standing }) {
  const soft = {
    work: 'bg-accent-soft text-accent',
    wait: 'bg-wait-soft text-wait',
    ask: 'bg-ask-soft text-ask',
    fail: 'bg-fail-soft text-fail',
    done: 'bg-ok-soft text-ok',
    off: 'bg-raised text-muted',
  }[standing]
  return <span className={`rounded px-1.5 py-px text-label whitespace-nowrap ${soft}`}>{children}</span>
}

export function PageTitle({ children, aside }: { children: ReactNode; aside?: ReactNode }) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
      <h1 className="min-w-0 text-title font-semibold break-words">{children}</h1>
      <div className="flex flex-wrap items-center gap-2 max-sm:has-[input]:w-full">{aside}</div>
    </div>
  )
}
