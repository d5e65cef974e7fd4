/** The agents' sessions, the one that was used last first, and the import of one from a file. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Session, SessionState } from '../../src/contract/session.ts'
import { oneOf, useAddress } from '../data/address.ts'
import { useTitle } from '../data/hooks.ts'
import { sessionsQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { fileName, inert, shorten, shortId } from '../format/text.ts'
import { SESSION_STANDING } from '../format/words.ts'
import { Empty, ErrorBox, PageTitle, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { ContextGauge } from '../parts/context-gauge.tsx'
import { Page } from '../parts/frame.tsx'
import { SearchField, ShowMore, SteadyRows, useSettled } from '../parts/list.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ImportButton } from '../session/import.tsx'

const STATES = Object.keys(SESSION_STANDING) as SessionState[]
const keyOf = ({ id }: Session) => id as string

export function Sessions() {
  useTitle('Sessions')
  const [address, change] = useAddress<'q' | 'status'>()
  const q = useSettled(address.q ?? '')
  const filters = useMemo(() => ({ q, status: oneOf(address.status, STATES) }), [q, address.status])
  const { data, error, refetch, ...pages } = useInfiniteQuery(sessionsQuery(filters))
  const sessions = data?.pages.flatMap(({ items }) => items) ?? []
  const isFiltered = q !== '' || filters.status !== undefined
  return (
    <Page>
      <PageTitle
        aside={
          <>
            <select
              aria-label="State of the sessions"
              value={filters.status ?? ''}
              onChange={(event) => change({ status: event.target.value })}
              className="h-7 rounded-md border border-line bg-surface px-1.5 max-sm:h-9"
            >
              <option value="">all states</option>
              {STATES.map((state) => (
                <option key={state}>{state}</option>
              ))}
            </select>
            <SearchField
              label="Search sessions"
              value={address.q ?? ''}
              onChange={(text) => change({ q: text })}
            />
            <ImportButton />
          </>
        }
      >
        Sessions
      </PageTitle>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={8} height={32} />
      ) : sessions.length === 0 ? (
        <Empty {...(isFiltered ? {} : { command: 'reprise run "Say hello"' })}>
          {isFiltered
            ? 'No session is like this.'
            : 'No agent has had a session yet. The first run makes one:'}
        </Empty>
      ) : (
        <SteadyRows rows={sessions} keyOf={keyOf} order={JSON.stringify(filters)}>
          {(rows) => <Table label="Sessions" columns={COLUMNS} rows={rows} keyOf={keyOf} />}
        </SteadyRows>
      )}
      <ShowMore pages={pages} />
    </Page>
  )
}

const COLUMNS: readonly Column<Session>[] = [
  {
    name: 'session',
    cell: (session) => (
      <Link
        to="/sessions/$id"
        params={{ id: session.id }}
        data-row
        title={session.agentSessionId}
        className="font-mono hover:underline"
      >
        {shortId(session.agentSessionId)}
      </Link>
    ),
  },
  {
    name: 'first prompt',
    wide: true,
    cell: ({ title }) =>
      title && (
        <span className="max-sm:line-clamp-2 sm:block sm:truncate" title={inert(title)}>
          {inert(title.split('\n', 1)[0] ?? '')}
        </span>
      ),
  },
  {
    name: 'state',
    cell: ({ state }) => <StateWord standing={SESSION_STANDING[state]}>{state}</StateWord>,
  },
  { name: 'agent', muted: true, from: 'sm', cell: ({ agent }) => agent },
  {
    name: 'directory',
    muted: true,
    from: 'lg',
    cell: ({ workDir }) => <span title={workDir}>{shorten(fileName(workDir), 24)}</span>,
  },
  {
    name: 'context',
    from: 'sm',
    cell: (session) => (
      <ContextGauge tokens={session.contextTokens} window={session.contextWindow} named={false} />
    ),
  },
  { name: 'turns', right: true, from: 'sm', cell: ({ turns }) => turns },
  { name: 'resumes', right: true, from: 'sm', cell: ({ resumes }) => resumes },
  { name: 'cost', right: true, from: 'sm', cell: ({ costUsd }) => formatCost(costUsd) },
  { name: 'last used', right: true, muted: true, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
]
