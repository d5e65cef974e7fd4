/** A transcript for reading. Only what is on the screen is drawn; it follows the end while the reader is there. */
import { memo, type ReactNode, useState } from 'react'
import { formatCount } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { formatClockSeconds, formatExact } from '../format/time.ts'
import { standingOfOutcome } from '../format/words.ts'
import { Mark } from '../parts/base.tsx'
import { FollowList } from '../parts/follow-list.tsx'
import { type Item, outcomeText } from './items.ts'
import { Markdown } from './markdown.tsx'
import { Told } from './told.tsx'
import { ToolLine } from './tool.tsx'

export const ItemView = memo(function ItemView({ item, live }: { item: Item; live: boolean }): ReactNode {
  switch (item.kind) {
    case 'text':
      return (
        <div className={`py-1.5 ${item.nested ? 'ml-5 border-l border-line pl-3 text-muted' : 'px-2'}`}>
          <Markdown text={item.text} />
          {item.open && live && <span className="sr-only">…</span>}
        </div>
      )
    case 'thinking':
      return <Thinking text={item.text} open={item.open && live} />
    case 'tool':
      return <ToolLine tool={item} live={live} />
    case 'line':
      return (
        <p className="flex items-baseline gap-1 px-2 py-0.5 text-small text-muted">
          {item.standing ? (
            <Mark standing={item.standing} label="" />
          ) : (
            <span className="w-4 text-center">·</span>
          )}
          <span className="min-w-0">
            {inert(item.text).slice(0, 2000)}
            {item.detail && (
              <span className="ml-2 font-mono break-all">{inert(item.detail).slice(0, 500)}</span>
            )}
          </span>
          {item.at && (
            <time className="ml-auto shrink-0 pl-3 text-label" title={formatExact(item.at)}>
              {formatClockSeconds(item.at)}
            </time>
          )}
        </p>
      )
    case 'attempt':
      return (
        <p className="mt-2 mb-1 flex items-center gap-3 px-2 text-label text-muted">
          <span className="font-semibold tracking-wide uppercase">attempt {item.number}</span>
          <span>{item.text}</span>
          <span className="h-px flex-1 bg-line" />
          <time title={formatExact(item.at)}>{formatClockSeconds(item.at)}</time>
        </p>
      )
    case 'told':
      return (
        <div className="px-2">
          <Told texts={item.texts} />
        </div>
      )
    case 'end':
      return (
        <p className="flex items-baseline gap-1 px-2 py-1.5 text-small">
          <Mark standing={standingOfOutcome(item.outcome.name)} label="" />
          <span>
            {item.of === 'attempt' ? 'attempt ended: ' : ''}
            {inert(outcomeText(item.outcome))}
          </span>
          <time className="ml-auto shrink-0 text-label text-muted" title={formatExact(item.at)}>
            {formatClockSeconds(item.at)}
          </time>
        </p>
      )
  }
})

function Thinking({ text, open }: { text: string; open: boolean }) {
  const [shown, setShown] = useState(false)
  return (
    <div className="px-2 py-0.5">
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
        className="text-small text-muted italic hover:text-text"
      >
        <span aria-hidden="true">{shown ? '▾' : '▸'} </span>
        {open ? 'thinking…' : 'thought'}
        {!shown && text && (
          <span className="ml-2 not-italic opacity-80">
            {inert(text.trim().split('\n')[0] ?? '').slice(0, 80)}
          </span>
        )}
      </button>
      {shown && (
        <div className="mt-1 border-l border-line pl-3 text-muted">
          <Markdown text={text} />
        </div>
      )}
    </div>
  )
}

/** Each item has a height of its own, which takes long for very many. */
const MAX_ITEMS = 3000

export function TranscriptView({
  items: all,
  live,
  label,
}: {
  items: readonly Item[]
  live: boolean
  label: string
}) {
  const [whole, setWhole] = useState(false)
  const hidden = whole ? 0 : Math.max(0, all.length - MAX_ITEMS)
  const items = hidden === 0 ? all : all.slice(hidden)
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="absolute top-2 right-4 z-10 rounded-full border border-line bg-surface px-3 py-0.5 text-small text-accent"
        >
          {formatCount(hidden)} earlier
        </button>
      )}
      <FollowList
        label={label}
        count={items.length}
        keyOf={(index) => items[index]?.key ?? index}
        rowPx={() => 32}
        measured
        overscan={12}
        className="px-1 py-2"
      >
        {(index) => {
          const item = items[index]
          return item ? <ItemView item={item} live={live} /> : null
        }}
      </FollowList>
    </div>
  )
}
