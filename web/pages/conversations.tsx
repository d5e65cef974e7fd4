/** All conversations, and the start of a new one. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Conversation } from '../../src/contract/conversation.ts'
import type { Overview, Subject } from '../../src/contract/overview.ts'
import { useAddress } from '../data/address.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { agentsQuery, conversationsQuery, overviewQuery } from '../data/queries.ts'
import { plural } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import {
  Button,
  Dialog,
  Empty,
  ErrorBox,
  Middle,
  PageTitle,
  Rows,
  Skeleton,
  StateWord,
} from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Choose, Field } from '../parts/form.tsx'
import { Page } from '../parts/frame.tsx'
import { SearchField, ShowMore, SteadyRows, useSettled } from '../parts/list.tsx'

export function Conversations() {
  useTitle('Conversations')
  const [address, change] = useAddress<'q'>()
  const q = useSettled(address.q ?? '')
  const { data, error, refetch, ...pages } = useInfiniteQuery(conversationsQuery(q))
  const [creating, setCreating] = useState(false)
  const all = data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Page>
      <PageTitle
        aside={
          <>
            <SearchField
              label="Search conversations"
              value={address.q ?? ''}
              onChange={(text) => change({ q: text })}
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
        <Empty {...(q === '' ? { command: 'reprise chat' } : {})}>
          {q === ''
            ? 'There are no conversations yet. Start one here, or in a terminal:'
            : 'No conversation is like this.'}
        </Empty>
      ) : (
        <SteadyRows rows={all} keyOf={({ id }) => id} order={q}>
          {(rows) => (
            <Rows label="Conversations">
              {rows.map((conversation) => (
                <ConversationRow key={conversation.id} conversation={conversation} />
              ))}
            </Rows>
          )}
        </SteadyRows>
      )}
      <ShowMore pages={pages} />
      <Dialog title="New conversation" open={creating} onClose={() => setCreating(false)}>
        <NewConversation recentDir={all[0]?.workDir ?? ''} />
      </Dialog>
    </Page>
  )
}

/** Tells whether the agent of a conversation works, waits or needs somebody; null: none of these. */
function stateOf({ id }: Conversation, overview: Overview | undefined) {
  const isIt = ({ subject }: { subject: Subject }) => subject.id === id
  if (overview?.needsYou.some(isIt)) return { standing: 'ask', word: 'needs you' } as const
  if (overview?.atWork.some(isIt)) return { standing: 'work', word: 'at work' } as const
  if (overview?.parked.some(isIt)) return { standing: 'wait', word: 'waiting' } as const
  return null
}

function ConversationRow({ conversation }: { conversation: Conversation }) {
  const { data: overview } = useQuery(overviewQuery())
  const state = stateOf(conversation, overview)
  return (
    <li className="relative flex min-h-12 items-center gap-3 px-3 hover:bg-raised">
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
      {state && <StateWord standing={state.standing}>{state.word}</StateWord>}
      <span className="text-muted max-sm:hidden">{conversation.agent}</span>
      <span className="w-16 text-right text-muted max-sm:hidden">
        {plural(conversation.turnCount, 'turn')}
      </span>
      <span className="w-20 text-right text-muted">
        <Ago at={conversation.updatedAt} />
      </span>
    </li>
  )
}

function NewConversation({ recentDir }: { recentDir: string }) {
  const { data: agents = [] } = useQuery(agentsQuery())
  const navigate = useNavigate()
  const act = useAct()
  const [workDir, setWorkDir] = useState(recentDir)
  const [agent, setAgent] = useState('')
  const [title, setTitle] = useState('')
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
      <Field
        name="Directory in which the agent works"
        required
        mono
        value={workDir}
        placeholder="/home/you/project"
        onChange={setWorkDir}
      />
      <Choose
        name="Agent"
        value={agent}
        options={[
          { value: '', word: 'default' },
          ...agents.map(({ name, available }) => ({
            value: name,
            word: available ? name : `${name} (not available)`,
          })),
        ]}
        onChange={setAgent}
      />
      <Field
        name="Title"
        note="the first words of the first message otherwise"
        value={title}
        maxLength={200}
        onChange={setTitle}
      />
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="main" type="submit" busy={act.busy} className="self-end">
        Start
      </Button>
    </form>
  )
}
