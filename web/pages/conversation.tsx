/** One conversation: a reading column, and the composer that says what sending will do. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import type { ConversationDetail, Message } from '../../src/contract/conversation.ts'
import type { Run } from '../../src/contract/run.ts'
import { Composer } from '../chat/composer.tsx'
import { LiveTurn, QueuedTurn } from '../chat/live-turn.tsx'
import { MessageView } from '../chat/message.tsx'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { conversationQuery, runsOfConversationQuery } from '../data/queries.ts'
import { shorten } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import { Button, Dialog, ErrorBox, Middle, Skeleton } from '../parts/base.tsx'
import { Page } from '../parts/frame.tsx'
import { NewChip, useFollowEnd } from '../transcript/view.tsx'

export function ConversationPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data, error, refetch } = useQuery(conversationQuery(id))
  const { data: runs = [] } = useQuery(runsOfConversationQuery(id))
  useTitle(data ? shorten(data.title, 40) || 'Conversation' : 'Conversation')
  if (error && !data) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!data) {
    return (
      <Page>
        <Skeleton rows={5} height={72} />
      </Page>
    )
  }
  return <Shown key={id} conversation={data} runs={runs} />
}

function Shown({ conversation, runs }: { conversation: ConversationDetail; runs: readonly Run[] }) {
  const scroller = useRef<HTMLDivElement>(null)
  const { messages } = conversation
  const byId = useMemo(() => new Map(runs.map((run) => [run.id as string, run])), [runs])
  const list = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (messages[index]?.role === 'user' ? 64 : 180),
    getItemKey: (index) => messages[index]?.id ?? index,
    overscan: 6,
  })
  const size = list.getTotalSize()
  const { fresh, toEnd } = useFollowEnd(scroller, messages.length, size)
  return (
    <div className="flex h-full flex-col">
      <Title conversation={conversation} />
      <div className="relative min-h-0 flex-1">
        <div
          ref={scroller}
          role="log"
          aria-live="off"
          aria-label="Messages"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          className="absolute inset-0 overflow-y-auto overscroll-contain"
        >
          <div className="relative mx-auto max-w-3xl" style={{ height: size }}>
            {list.getVirtualItems().map(({ index, key, start }) => {
              const message = messages[index]
              return message ? (
                <div
                  key={key}
                  ref={list.measureElement}
                  data-index={index}
                  className="absolute top-0 left-0 w-full px-4 py-2"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <MessageView
                    conversation={conversation}
                    message={message}
                    run={message.runId ? (byId.get(message.runId) ?? null) : null}
                    laterMessages={messages.length - 1 - index}
                  />
                  <AfterQuestion message={message} messages={messages} byId={byId} />
                </div>
              ) : null
            })}
          </div>
          {messages.length === 0 && (
            <p className="mx-auto max-w-3xl px-4 py-10 text-muted">
              Nothing has been said yet. Write the first message below.
            </p>
          )}
        </div>
        <NewChip fresh={fresh} toEnd={toEnd} />
      </div>
      <Composer conversation={conversation} runs={runs} onSent={toEnd} />
    </div>
  )
}

/** The answer to a question while it is being written, or why there is none yet. */
function AfterQuestion({
  message,
  messages,
  byId,
}: {
  message: Message
  messages: readonly Message[]
  byId: ReadonlyMap<string, Run>
}) {
  if (message.role !== 'user' || message.runId === null) return null
  const run = byId.get(message.runId)
  if (!run || run.state === 'settled') {
    const answered = messages.some((one) => one.turn === message.turn && one.role === 'assistant')
    return run && !answered ? <QueuedTurn run={run} /> : null
  }
  return run.state === 'running' ? <LiveTurn run={run} /> : <QueuedTurn run={run} />
}

function Title({ conversation }: { conversation: ConversationDetail }) {
  const act = useAct()
  const [editing, setEditing] = useState(false)
  const [title, setTitle] = useState(conversation.title)
  const [instructions, setInstructions] = useState(conversation.instructions ?? '')
  const save = async () => {
    const done = await act.run(() =>
      client.updateConversation(conversation.id, {
        ...(title.trim() ? { title: title.trim() } : {}),
        instructions: instructions.trim() === '' ? null : instructions,
      }),
    )
    if (done) setEditing(false)
  }
  return (
    <div className="flex items-center gap-3 border-b border-line px-4 py-2">
      <h1 className="min-w-0 truncate font-semibold">
        {shorten(conversation.title, 90) || 'New conversation'}
      </h1>
      <span className="truncate text-muted max-sm:hidden">
        <Middle text={conversation.workDir} max={46} mono />
      </span>
      <Button kind="bare" className="ml-auto" onClick={() => setEditing(true)}>
        Settings…
      </Button>
      <Dialog title="Conversation" open={editing} onClose={() => setEditing(false)}>
        <div className="flex flex-col gap-3">
          <label>
            Title
            <input
              value={title}
              maxLength={200}
              onChange={(event) => setTitle(event.target.value)}
              className="mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5"
            />
          </label>
          <label>
            Instructions <span className="text-muted">(every agent of this conversation gets them)</span>
            <textarea
              value={instructions}
              rows={6}
              onChange={(event) => setInstructions(event.target.value)}
              className="mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5"
            />
          </label>
          {act.error !== null && <ErrorBox error={act.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setEditing(false)}>Close</Button>
            <Button kind="main" busy={act.busy} onClick={() => void save()}>
              Save
            </Button>
          </div>
        </div>
      </Dialog>
    </div>
  )
}
