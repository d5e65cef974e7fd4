/** A message of a conversation, its cost, and what one can do with it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { memo, useMemo, useState } from 'react'
import { aboutTool } from '../../src/contract/about-tool.ts'
import type { ContentBlock, ConversationDetail, Message } from '../../src/contract/conversation.ts'
import type { Run } from '../../src/contract/run.ts'
import { startText } from '../../src/contract/start-text.ts'
import { client } from '../data/client.ts'
import { runQuery } from '../data/queries.ts'
import { formatCost, formatPercent, plural } from '../format/amounts.ts'
import { formatExact, formatSpan } from '../format/time.ts'
import { useAct } from '../parts/act.ts'
import { Badge, Button, ErrorBox } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { cacheShare } from '../parts/run-facts.tsx'
import type { Item, ToolItem } from '../transcript/items.ts'
import { Markdown } from '../transcript/markdown.tsx'
import { ItemView } from '../transcript/view.tsx'

/** Each agent has its own colour, the same everywhere. */
export function agentHue(agent: string): number {
  let hash = 0
  for (const char of agent) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 360
  return (hash + 220) % 360
}

function itemsOf(message: Message): Item[] {
  const results = new Map(
    message.blocks.flatMap((block) =>
      block.type === 'tool-result' ? [[block.toolUseId, block] as const] : [],
    ),
  )
  return message.blocks.flatMap((block: ContentBlock, index): Item[] => {
    const key = `${message.id}/${index}`
    if (block.type === 'text') {
      return [{ kind: 'text', key, text: block.text, open: false, nested: false, at: null }]
    }
    if (block.type === 'memory-cleared') {
      return [
        {
          kind: 'line',
          key,
          standing: null,
          text: 'The agent has forgotten all that was said before.',
          at: null,
        },
      ]
    }
    if (block.type !== 'tool-use') return []
    const result = results.get(block.toolUseId)
    const tool: ToolItem = {
      kind: 'tool',
      key,
      id: block.toolUseId,
      name: block.name,
      toolKind: block.kind ?? 'other',
      about: about(block),
      input: block.input,
      startedAt: null,
      endedAt: null,
      result: result ? { isError: result.isError, content: result.content, clipped: result.clipped } : null,
      nested: false,
    }
    return [tool]
  })
}

/** Stored messages have no description of a call besides its kind. */
function about(block: Extract<ContentBlock, { type: 'tool-use' }>): string {
  const input = (typeof block.input === 'object' && block.input !== null ? block.input : {}) as Record<
    string,
    unknown
  >
  const named = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description', 'prompt'].find(
    (name) => typeof input[name] === 'string',
  )
  return named ? String(input[named]) : aboutTool({ ...block, input: block.input })
}

export const MessageView = memo(function MessageView({
  conversation,
  message,
  run,
  laterMessages,
}: {
  conversation: ConversationDetail
  message: Message
  run: Run | null
  laterMessages: number
}) {
  const [editing, setEditing] = useState(false)
  const items = useMemo(() => itemsOf(message), [message])
  const isUser = message.role === 'user'
  const several = conversation.agents.length > 1
  return (
    <article
      aria-label={isUser ? 'You' : message.agent}
      className={`group border-l-2 pl-3 ${isUser ? 'border-line' : ''}`}
      style={isUser ? undefined : { borderColor: `hsl(${agentHue(message.agent)} 45% 55%)` }}
    >
      <header className="flex min-h-7 items-center gap-x-2 text-small max-sm:flex-wrap">
        <span className="font-semibold">{isUser ? 'You' : message.agent}</span>
        {isUser && several && <span className="text-muted">to {message.agent}</span>}
        {message.origin !== 'reprise' && <Badge>said outside Reprise</Badge>}
        {message.state !== 'complete' && (
          <Badge standing={message.state === 'failed' ? 'fail' : 'off'}>
            {message.state === 'failed' ? '✕ failed' : '○ stopped'}
          </Badge>
        )}
        {message.editedAt && (
          <span className="text-muted" title={formatExact(message.editedAt)}>
            edited
          </span>
        )}
        <Ago at={message.createdAt} className="whitespace-nowrap text-muted" />
        <MessageActions
          conversation={conversation}
          message={message}
          laterMessages={laterMessages}
          onEdit={() => setEditing(true)}
        />
      </header>
      {editing ? (
        <EditForm conversation={conversation} message={message} onClose={() => setEditing(false)} />
      ) : (
        <div className="-ml-2">
          {items.map((item) =>
            isUser && item.kind === 'text' ? (
              <div key={item.key} className="px-2 py-1">
                <Markdown text={item.text} />
              </div>
            ) : (
              <ItemView key={item.key} item={item} live={false} />
            ),
          )}
        </div>
      )}
      {!isUser && message.runId && <TurnFacts run={run} runId={message.runId} />}
    </article>
  )
})

/** The newest runs are known with the conversation; an older one is asked for when its message is looked at. */
function TurnFacts({ run: known, runId }: { run: Run | null; runId: string }) {
  const { data } = useQuery({ ...runQuery(runId), enabled: known === null })
  const run = known ?? data
  if (!run) return <footer className="h-5" />
  const cached = cacheShare(run.usage)
  return (
    <footer className="flex flex-wrap items-center gap-x-3 pt-1 text-label text-muted">
      <Link to="/runs/$id" params={{ id: run.id }} className="hover:text-text hover:underline">
        {startText(run)}
      </Link>
      <span>{formatCost(run.costUsd, run.costEstimated)}</span>
      {cached !== null && <span>{formatPercent(cached)} from cache</span>}
      {run.durationMs !== null && <span>{formatSpan(run.durationMs)}</span>}
      {run.model && <span>{run.model}</span>}
      {run.leftOut && <span className="text-ask">part of the history did not fit</span>}
    </footer>
  )
}

function MessageActions({
  conversation,
  message,
  laterMessages,
  onEdit,
}: {
  conversation: ConversationDetail
  message: Message
  laterMessages: number
  onEdit: () => void
}) {
  const act = useAct()
  const navigate = useNavigate()
  const fork = () =>
    act.run(async () => {
      const fork = await client.forkConversation(conversation.id, { at: message.id })
      await navigate({ to: '/conversations/$id', params: { id: fork.id } })
    })
  const [confirming, setConfirming] = useState<'remove' | 'retry' | null>(null)
  const dropped = plural(laterMessages + (confirming === 'remove' ? 1 : 0), 'message')
  const consequence =
    confirming === 'remove'
      ? `Removes ${dropped}. Agents that have seen them start a new session with what is left.`
      : `Asks again and removes what came after (${dropped}). The session is not resumed: it has seen the old answer.`
  const carryOut = () =>
    act.run(async () => {
      if (confirming === 'remove') await client.truncate(conversation.id, message.id)
      else await client.retryFrom(conversation.id, message.id)
      setConfirming(null)
    })
  if (confirming) {
    return (
      <span
        className="ml-auto flex flex-wrap items-center justify-end gap-2"
        role="alertdialog"
        aria-label={consequence}
      >
        <span className="text-ask">{consequence}</span>
        <Button kind="danger" busy={act.busy} onClick={() => void carryOut()}>
          {confirming === 'remove' ? 'Remove' : 'Ask again'}
        </Button>
        <Button onClick={() => setConfirming(null)}>Keep</Button>
        {act.error !== null && <ErrorBox error={act.error} />}
      </span>
    )
  }
  return (
    <span className="ml-auto flex opacity-0 max-sm:ml-0 max-sm:w-full max-sm:-mx-2.5 group-focus-within:opacity-100 group-hover:opacity-100 max-sm:opacity-100">
      {message.role === 'user' && (
        <Button kind="bare" onClick={onEdit}>
          Edit
        </Button>
      )}
      <Button kind="bare" busy={act.busy} onClick={() => void fork()}>
        Fork here
      </Button>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="bare" onClick={() => setConfirming('retry')}>
        Ask again
      </Button>
      <Button kind="bare" onClick={() => setConfirming('remove')}>
        Remove from here
      </Button>
    </span>
  )
}

function EditForm({
  conversation,
  message,
  onClose,
}: {
  conversation: ConversationDetail
  message: Message
  onClose: () => void
}) {
  const act = useAct()
  const before = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  const [text, setText] = useState(before)
  const save = async () => {
    if (await act.run(() => client.editMessage(conversation.id, message.id, text))) onClose()
  }
  const seenBy = conversation.agents
    .filter(({ seenTurn }) => (seenTurn ?? 0) >= message.turn)
    .map(({ agent }) => agent)
  return (
    <div className="py-1">
      <textarea
        aria-label="Message"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field.
        autoFocus
        value={text}
        rows={Math.min(12, text.split('\n').length + 1)}
        onChange={(event) => setText(event.target.value)}
        className="w-full rounded-md border border-line bg-surface px-2 py-1.5"
      />
      <div className="mt-1 flex flex-wrap items-center gap-2">
        <span className="mr-auto text-small text-ask">
          {seenBy.length > 0
            ? `${seenBy.join(', ')} has seen the old text: its next turn starts fresh with the changed history.`
            : 'No agent has seen it yet: nothing else changes.'}
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="main"
          busy={act.busy}
          disabled={text.trim() === '' || text === before}
          onClick={() => void save()}
        >
          Save
        </Button>
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}
