/** The agents' sessions, most recently used first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Session } from '../../src/contract/session.ts'
import { useTitle } from '../data/hooks.ts'
import { sessionsQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { fileName, shorten, shortId } from '../format/text.ts'
import type { Standing } from '../format/words.ts'
import { Button, ContextGauge, Empty, ErrorBox, PageTitle, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'

export const SESSION_STANDING: Readonly<Record<Session['state'], Standing>> = {
  created: 'wait',
  active: 'work',
  paused: 'wait',
  completed: 'done',
  expired: 'off',
  poisoned: 'fail',
}

export function Sessions() {
  useTitle('Sessions')
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    sessionsQuery(),
  )
  const sessions = data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Page wide>
      <PageTitle>Sessions</PageTitle>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={8} height={32} />
      ) : sessions.length === 0 ? (
        <Empty command='reprise run "Say hello"'>
          No agent has had a session yet. The first run makes one:
        </Empty>
      ) : (
        <div className="overflow-x-auto rounded-lg border border-line bg-surface">
          <table className="w-full text-small">
            <thead className="text-label text-muted">
              <tr className="h-8 border-b border-line text-left">
                <th scope="col" className="px-3 font-normal">
                  session
                </th>
                <th scope="col" className="px-2 font-normal">
                  state
                </th>
                <th scope="col" className="px-2 font-normal">
                  agent
                </th>
                <th scope="col" className="px-2 font-normal max-md:hidden">
                  directory
                </th>
                <th scope="col" className="px-2 font-normal">
                  context
                </th>
                <th scope="col" className="px-2 text-right font-normal">
                  turns
                </th>
                <th scope="col" className="px-2 text-right font-normal">
                  resumes
                </th>
                <th scope="col" className="px-2 text-right font-normal">
                  cost
                </th>
                <th scope="col" className="px-3 text-right font-normal">
                  last used
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {sessions.map((session) => (
                <tr key={session.id} className="h-8 hover:bg-raised">
                  <td className="px-3">
                    <Link
                      to="/sessions/$id"
                      params={{ id: session.id }}
                      data-row
                      title={session.agentSessionId}
                      className="font-mono hover:underline"
                    >
                      {shortId(session.agentSessionId)}
                    </Link>
                  </td>
                  <td className="px-2">
                    <StateWord standing={SESSION_STANDING[session.state]}>{session.state}</StateWord>
                  </td>
                  <td className="px-2 text-muted">{session.agent}</td>
                  <td className="px-2 text-muted max-md:hidden" title={session.workDir}>
                    {shorten(fileName(session.workDir), 30)}
                  </td>
                  <td className="px-2">
                    <ContextGauge tokens={session.contextTokens} window={session.contextWindow} />
                  </td>
                  <td className="px-2 text-right">{session.turns}</td>
                  <td className="px-2 text-right">{session.resumes}</td>
                  <td className="px-2 text-right">{formatCost(session.costUsd)}</td>
                  <td className="px-3 text-right whitespace-nowrap text-muted">
                    <Ago at={session.lastUsedAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Page>
  )
}
