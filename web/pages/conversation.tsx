/** One conversation: a reading column, and the composer that says what sending will do. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import type { ConversationDetail, Message } from '../../src/contract/conversation.ts'
import type { Run } from '../../src/contract/run.ts'
import { Composer } from '../chat/composer.tsx'
import { LiveTurn, QueuedTurn } from '../chat/live-turn.tsx'
import { MessageView } from '../chat/message.tsx'
import { Title } from '../chat/title.tsx'
import { useTitle } from '../data/hooks.ts'
import { conversationQuery, runsOfConversationQuery } from '../data/queries.ts'
import { shorten } from '../format/text.ts'
import { ErrorBox, Skeleton } from '../parts/base.tsx'
import { FollowList, type FollowListHandle } from '../parts/follow-list.tsx'
import { Page } from '../parts/frame.tsx'

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
  const list = useRef<FollowListHandle>(null)
  const { messages } = conversation
  const byId = useMemo(() => new Map(runs.map((run) => [run.id as string, run])), [runs])
  return (
    <div className="flex h-full flex-col">
      <Title conversation={conversation} />
      <FollowList
        ref={list}
        label="Messages"
        count={messages.length}
        keyOf={(index) => messages[index]?.id ?? index}
        rowPx={(index) => (messages[index]?.role === 'user' ? 64 : 180)}
        measured
        overscan={6}
        innerClassName="mx-auto max-w-3xl"
        rowClassName="px-4 py-2"
        empty={
          <p className="mx-auto max-w-3xl px-4 py-10 text-muted">
            Nothing has been said yet. Write the first message below.
          </p>
        }
      >
        {(index) => {
          const message = messages[index]
          return message ? (
            <>
              <MessageView
                conversation={conversation}
                message={message}
                run={message.runId ? (byId.get(message.runId) ?? null) : null}
                laterMessages={messages.length - 1 - index}
              />
              <AfterQuestion message={message} messages={messages} byId={byId} />
            </>
          ) : null
        }}
      </FollowList>
      <Composer conversation={conversation} runs={runs} onSent={() => list.current?.toEnd()} />
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
