/** All conversations, and the start of a new one. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { agentsQuery, conversationsQuery } from '../data/queries.ts'
import { plural } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import { Button, Dialog, Empty, ErrorBox, Middle, PageTitle, Rows, Skeleton } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'

export function Conversations() {
  useTitle('Conversations')
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    conversationsQuery(),
  )
  const [creating, setCreating] = useState(false)
  const [search, setSearch] = useState('')
  const all = data?.pages.flatMap(({ items }) => items) ?? []
  const words = search.trim().toLowerCase()
  const shown =
    words === ''
      ? all
      : all.filter(({ title, workDir }) => `${title} ${workDir}`.toLowerCase().includes(words))
  return (
    <Page>
      <PageTitle
        aside={
          <>
            <input
              aria-label="Search conversations"
              placeholder="Search…"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              className="h-7 w-48 rounded-md border border-line bg-surface px-2 max-sm:h-9 max-sm:w-32"
            />
            <Button kind="main" onClick={() => setCreating(true)}>
              New conversation
            </Button>
          </>
        }
      >
        Conversations
      </PageTitle>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={6} height={48} />
      ) : all.length === 0 ? (
        <Empty command="reprise chat">
          There are no conversations yet. Start one here, or in a terminal:
        </Empty>
      ) : (
        <Rows label="Conversations">
          {shown.map((conversation) => (
            <li
              key={conversation.id}
              className="relative flex min-h-12 items-center gap-3 px-3 hover:bg-raised"
            >
              <span className="min-w-0 flex-1">
                <Link
                  to="/conversations/$id"
                  params={{ id: conversation.id }}
                  data-row
                  className="block truncate font-medium after:absolute after:inset-0"
                >
                  {shorten(conversation.title, 100) || 'untitled'}
                </Link>
                <span className="block truncate text-label text-muted">
                  <Middle text={conversation.workDir} max={60} mono />
                </span>
              </span>
              <span className="text-muted max-sm:hidden">{conversation.agent}</span>
              <span className="w-16 text-right text-muted">{plural(conversation.turnCount, 'turn')}</span>
              <span className="w-20 text-right text-muted">
                <Ago at={conversation.updatedAt} />
              </span>
            </li>
          ))}
        </Rows>
      )}
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
      <Dialog title="New conversation" open={creating} onClose={() => setCreating(false)}>
        <NewConversation recentDir={all[0]?.workDir ?? ''} />
      </Dialog>
    </Page>
  )
}

function NewConversation({ recentDir }: { recentDir: string }) {
  const { data: agents = [] } = useQuery(agentsQuery())
  const navigate = useNavigate()
  const act = useAct()
  const [workDir, setWorkDir] = useState(recentDir)
  const [agent, setAgent] = useState('')
  const [title, setTitle] = useState('')
  const field = 'mt-0.5 block w-full rounded-md border border-line bg-surface px-2 py-1.5'
  const create = () =>
    act.run(async () => {
      const { id } = await client.createConversation({
        workDir,
        ...(agent ? { agent } : {}),
        ...(title.trim() ? { title: title.trim() } : {}),
      })
      await navigate({ to: '/conversations/$id', params: { id } })
    })
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void create()
      }}
    >
      <label>
        Directory in which the agent works
        <input
          required
          value={workDir}
          placeholder="/home/you/project"
          onChange={(event) => setWorkDir(event.target.value)}
          className={`${field} font-mono text-small`}
        />
      </label>
      <label>
        Agent
        <select value={agent} onChange={(event) => setAgent(event.target.value)} className={field}>
          <option value="">default</option>
          {agents.map(({ name, available }) => (
            <option key={name} value={name} disabled={!available}>
              {name}
              {available ? '' : ' (not available)'}
            </option>
          ))}
        </select>
      </label>
      <label>
        Title <span className="text-muted">(the first words of the first message otherwise)</span>
        <input
          value={title}
          maxLength={200}
          onChange={(event) => setTitle(event.target.value)}
          className={field}
        />
      </label>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="main" type="submit" busy={act.busy} className="self-end">
        Start
      </Button>
    </form>
  )
}
