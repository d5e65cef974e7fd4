/** One session of an agent: everything that used it, how full it became, and its files. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Run } from '../../src/contract/run.ts'
import type { SessionDetail } from '../../src/contract/session.ts'
import { startText } from '../../src/contract/start-text.ts'
import { useTitle } from '../data/hooks.ts'
import { runsOfSessionQuery, sessionQuery } from '../data/queries.ts'
import { formatBytes, formatCost, formatPercent, formatTokens, plural } from '../format/amounts.ts'
import { inert, shorten, shortId } from '../format/text.ts'
import { formatClock } from '../format/time.ts'
import { SESSION_STANDING, standingOfRun, wordOfRun } from '../format/words.ts'
import { Audit } from '../parts/audit.tsx'
import {
  Copyable,
  Empty,
  ErrorBox,
  Fact,
  Middle,
  PageTitle,
  Rows,
  Section,
  Skeleton,
  StateWord,
} from '../parts/base.tsx'
import { Bars } from '../parts/chart.tsx'
import { Ago } from '../parts/clock.tsx'
import { ContextGauge } from '../parts/context-gauge.tsx'
import { Page } from '../parts/frame.tsx'
import { SessionActions } from '../session/actions.tsx'
import { FollowUpLine } from '../watch/follow-up-line.tsx'

export function SessionPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: session, error, refetch } = useQuery(sessionQuery(id))
  const { data: runs = [] } = useQuery(runsOfSessionQuery(session?.id))
  useTitle(session ? `Session ${shortId(session.agentSessionId)}` : 'Session')
  if (error && !session) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!session) {
    return (
      <Page>
        <Skeleton rows={6} />
      </Page>
    )
  }
  const own = session.followUps
  return (
    <Page>
      <PageTitle aside={<SessionActions session={session} />}>
        Session <code className="text-title">{shortId(session.agentSessionId)}</code>{' '}
        <span className="text-base font-normal">
          <StateWord standing={SESSION_STANDING[session.state]}>{session.state}</StateWord>
        </span>
      </PageTitle>
      <div className="flex gap-8 max-lg:flex-col">
        <aside className="w-80 shrink-0 max-lg:w-auto">
          <Facts session={session} />
          <Audit subject={session.id} />
        </aside>
        <div className="min-w-0 flex-1">
          <Section title="Context over time">
            <Fill runs={runs} />
          </Section>
          <Section title="Follow-ups" count={own.length}>
            {own.length === 0 ? (
              <Empty command={`reprise followups add --session ${session.id} --in 10m "Is it still up?"`}>
                Nothing is planned for this session. Plan something:
              </Empty>
            ) : (
              <div className="rounded-lg border border-line bg-surface px-3 py-2">
                {own.map((followUp) => (
                  <FollowUpLine key={followUp.id} followUp={followUp} />
                ))}
              </div>
            )}
          </Section>
          <Section title="Runs" count={runs.length}>
            <Rows label="Runs">
              {runs.map((run) => (
                <li key={run.id} className="flex min-h-10 items-center gap-3 px-3 max-md:flex-wrap">
                  <span className="w-28">
                    <StateWord standing={standingOfRun(run)}>{wordOfRun(run)}</StateWord>
                  </span>
                  <Link
                    to="/runs/$id"
                    params={{ id: run.id }}
                    data-row
                    className="min-w-0 flex-1 truncate font-medium hover:underline"
                  >
                    {shorten(run.prompt, 100)}
                  </Link>
                  <span className="text-small text-muted max-md:hidden">{startText(run)}</span>
                  <span className="w-16 text-right">{formatCost(run.costUsd, run.costEstimated)}</span>
                  <span className="w-16 text-right text-muted">
                    <Ago at={run.createdAt} />
                  </span>
                </li>
              ))}
            </Rows>
          </Section>
        </div>
      </div>
    </Page>
  )
}

const COPY_WORDS = { fork: 'fork of', import: 'imported', rewind: 'rewind of' } as const

function Facts({ session }: { session: SessionDetail }) {
  const { transcript } = session
  return (
    <dl>
      <Fact name="agent">
        {session.agent}
        {session.agentVersion && <span className="text-muted"> {session.agentVersion}</span>}
      </Fact>
      {session.title && (
        <Fact name="first prompt">
          <span className="line-clamp-3" title={inert(session.title)}>
            {inert(session.title)}
          </span>
        </Fact>
      )}
      <Fact name="context">
        <ContextGauge tokens={session.contextTokens} window={session.contextWindow} named={false} />
      </Fact>
      <Fact name="turns">
        {session.turns}, resumed {session.resumes === 1 ? 'once' : `${session.resumes} times`}
      </Fact>
      <Fact name="cost">{formatCost(session.costUsd)}</Fact>
      <Fact name="last used">
        <Ago at={session.lastUsedAt} />
      </Fact>
      <Fact name="created">
        <Ago at={session.createdAt} />
      </Fact>
      <Fact name="directory">
        <Middle text={session.workDir} max={40} mono />
      </Fact>
      <Fact name="transcript">
        {transcript.state}
        {transcript.bytes !== null && <span className="text-muted"> · {formatBytes(transcript.bytes)}</span>}
        {transcript.path && (
          <span className="block">
            <Copyable text={transcript.path} shown={shorten(transcript.path, 20)} />
          </span>
        )}
      </Fact>
      {session.files.length > 1 && (
        <Fact name="files">
          <details>
            <summary>
              {plural(session.files.length, 'file')},{' '}
              {formatBytes(session.files.reduce((sum, { bytes }) => sum + bytes, 0))}
            </summary>
            <ul>
              {session.files.map(({ path, bytes }) => (
                <li key={path}>
                  <Middle text={path} max={34} mono />{' '}
                  <span className="text-muted">{formatBytes(bytes)}</span>
                </li>
              ))}
            </ul>
          </details>
        </Fact>
      )}
      <Fact name="resumable">
        until {formatClock(session.resumableUntil)}{' '}
        <span className="text-muted">
          <Ago at={session.resumableUntil} />
        </span>
      </Fact>
      {session.stopReason && (
        <Fact name="stopped">
          <span title="Why the model stopped last, in the words of the agent">
            {inert(session.stopReason).replaceAll('_', ' ')}
          </span>
        </Fact>
      )}
      {session.origin === 'adopted' && <Fact name="origin">made without Reprise, and adopted</Fact>}
      {session.conversationId && (
        <Fact name="conversation">
          <Link
            to="/conversations/$id"
            params={{ id: session.conversationId }}
            className="text-accent hover:underline"
          >
            open
          </Link>
        </Fact>
      )}
      {session.copiedFrom && (
        <Fact name={COPY_WORDS[session.copiedFrom.kind]}>
          {session.copiedFrom.session ? (
            <SessionLink id={session.copiedFrom.session} />
          ) : (
            <code>{shortId(session.copiedFrom.agentSessionId)}</code>
          )}
        </Fact>
      )}
      {session.continues && (
        <Fact name="continues">
          <SessionLink id={session.continues} />
        </Fact>
      )}
      {session.continuedBy.length > 0 && (
        <Fact name="continued by">
          {session.continuedBy.map((id) => (
            <SessionLink key={id} id={id} />
          ))}
        </Fact>
      )}
      {session.poison && <Fact name="not usable">{inert(session.poison)}</Fact>}
      {session.heldBy && (
        <Fact name="used by">
          <Link to="/runs/$id" params={{ id: session.heldBy }} className="text-accent hover:underline">
            a run, now
          </Link>
        </Fact>
      )}
      <Fact name="agent’s id">
        <Copyable text={session.agentSessionId} shown={shorten(session.agentSessionId, 20)} />
      </Fact>
    </dl>
  )
}

function SessionLink({ id }: { id: string }) {
  return (
    <Link
      to="/sessions/$id"
      params={{ id }}
      className="mr-2 font-mono text-small text-accent hover:underline"
    >
      {shortId(id)}
    </Link>
  )
}

/** How full the context was after each run, oldest first. */
function Fill({ runs }: { runs: readonly Run[] }) {
  const known = runs
    .filter(({ contextTokens }) => contextTokens !== null)
    .toReversed()
    .slice(-60)
  if (known.length === 0) return <p className="text-muted">Not known yet.</p>
  const window = known.at(-1)?.contextWindow ?? 0
  const most = Math.max(...known.map(({ contextTokens }) => contextTokens ?? 0))
  const bars = known.map((run, index) => {
    const share = run.contextWindow ? (run.contextTokens ?? 0) / run.contextWindow : 0
    return {
      label: `${index + 1}`,
      title: `${formatClock(run.createdAt)}: ${formatTokens(run.contextTokens ?? 0)} tokens, ${formatPercent(share)}`,
      parts: [
        { name: 'context', value: run.contextTokens ?? 0, colour: share > 0.8 ? 'fill-ask' : 'fill-accent' },
      ],
    }
  })
  return (
    <div className="rounded-lg border border-line bg-surface px-3 pt-6 pb-2">
      <Bars
        bars={bars}
        height={60}
        // A session that is nearly empty is still readable: the scale ends above the fullest, and says so.
        full={window > 0 ? Math.min(window, Math.ceil(most * 1.5)) : most}
        scale
        tick={(index) => known.length < 20 || index % 10 === 9}
        caption="Tokens in the context window after each run"
        format={(tokens) => `${formatTokens(tokens)} tokens`}
      />
    </div>
  )
}
