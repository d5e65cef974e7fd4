/** The machine: agents, sandbox, limits, who may call the daemon, and the configuration in force. */
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '../../src/contract/agent.ts'
import type { Status } from '../../src/contract/http.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { agentsQuery, auditQuery, configurationQuery, statusQuery, tokensQuery } from '../data/queries.ts'
import { formatBytes, formatCount, formatPercent, plural } from '../format/amounts.ts'
import { inert, shorten, shortId } from '../format/text.ts'
import { toYaml } from '../format/yaml.ts'
import { useAct } from '../parts/act.ts'
import { wordOf } from '../parts/audit.tsx'
import {
  Badge,
  Button,
  Copyable,
  ErrorBox,
  Fact,
  Mark,
  Middle,
  PageTitle,
  Rows,
  Section,
  Skeleton,
} from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { Code } from '../transcript/code.tsx'

export function Machine() {
  useTitle('Machine')
  const { data: status, error, refetch } = useQuery(statusQuery())
  return (
    <Page wide>
      <PageTitle>Machine</PageTitle>
      {error && !status && <ErrorBox error={error} retry={() => void refetch()} />}
      <div className="grid gap-x-8 lg:grid-cols-2">
        <div className="min-w-0">
          <Section title="Daemon">
            {status ? <Daemon status={status} /> : <Skeleton rows={4} height={24} />}
          </Section>
          <Section title="Agents">
            <Agents />
          </Section>
          {status && status.quotas.length > 0 && <Quotas status={status} />}
          <Section title="Configuration in force">
            <Configuration />
          </Section>
        </div>
        <div className="min-w-0">
          {status && <Problems status={status} />}
          <Section title="Who may call the daemon">
            <Tokens />
          </Section>
          <Section title="Who did what">
            <Recent />
          </Section>
        </div>
      </div>
    </Page>
  )
}

function Daemon({ status }: { status: Status }) {
  const { sandbox } = status
  return (
    <dl className="rounded-lg border border-line bg-surface px-3 py-2">
      <Fact name="version">{status.version}</Fact>
      <Fact name="up for">
        <Elapsed from={status.startedAt} /> <span className="text-muted">pid {status.pid}</span>
      </Fact>
      <Fact name="memory">{formatBytes(status.memoryBytes)}</Fact>
      <Fact name="home">
        <Middle text={status.home} max={50} mono />
      </Fact>
      <Fact name="address">
        <code>{status.url}</code>
      </Fact>
      <Fact name="runs">
        {formatCount(status.runs.running)} running, {formatCount(status.runs.queued)} queued,{' '}
        {formatCount(status.runs.settled)} settled
      </Fact>
      <Fact name="sandbox">
        {sandbox.kind === 'none' ? (
          <span className="text-ask">none: the rules of tiers are advisory</span>
        ) : (
          sandbox.kind
        )}
        {sandbox.advice && <span className="block text-muted">{inert(sandbox.advice)}</span>}
      </Fact>
      {status.simulator && (
        <Fact name="simulator">
          <code>{status.simulator}</code>
        </Fact>
      )}
    </dl>
  )
}

function Problems({ status }: { status: Status }) {
  const { cannotStore, disks, quarantined, obstacles } = status
  if (!cannotStore && disks.length === 0 && quarantined.length === 0 && obstacles.length === 0) {
    return (
      <Section title="Health">
        <p className="rounded-lg border border-line bg-surface px-3 py-2.5 text-muted">
          <span className="text-ok">✓</span> No limit, no outage, nothing held back; the disk accepts writes.
        </p>
      </Section>
    )
  }
  return (
    <Section title="Health">
      <Rows>
        {cannotStore && (
          <li className="px-3 py-2 text-fail">
            ✕ Nothing can be stored for <Elapsed from={cannotStore.since} />: {inert(cannotStore.why)}
          </li>
        )}
        {disks.map(({ path, message }) => (
          <li key={path} className="px-3 py-2 text-fail">
            ✕ {inert(message)}; new attempts wait
          </li>
        ))}
        {obstacles.map((obstacle) => (
          <li key={`${obstacle.account}/${obstacle.model}`} className="px-3 py-2">
            <Mark standing="wait" label="" />
            <span className="font-medium">{obstacle.kind === 'limit' ? 'Usage limit' : 'Outage'}</span>{' '}
            {obstacle.agents.join(', ')} {obstacle.model ?? ''}{' '}
            <span className="text-muted">{shorten(obstacle.message, 140)}</span>
            <p className="pl-4 text-small text-muted">
              since <Ago at={obstacle.since} />, next try <Ago at={obstacle.nextTryAt} />
              {obstacle.resetsAt && (
                <>
                  , resets <Ago at={obstacle.resetsAt} />
                </>
              )}
              , {plural(obstacle.waitingCount, 'run')} waiting
            </p>
          </li>
        ))}
        {quarantined.map(({ runId, why, at }) => (
          <li key={runId} className="px-3 py-2">
            <Mark standing="fail" label="" />
            <a href={`/runs/${runId}`} className="font-mono text-small text-accent hover:underline">
              {shortId(runId)}
            </a>{' '}
            held back <Ago at={at} />: {inert(why)}
          </li>
        ))}
      </Rows>
    </Section>
  )
}

function Quotas({ status }: { status: Status }) {
  return (
    <Section title="Limits of use">
      <Rows>
        {status.quotas.map((quota) => (
          <li key={quota.account} className="px-3 py-2">
            <p className="mb-1">
              {quota.agents.join(', ')}{' '}
              <span className="text-muted">
                as reported <Ago at={quota.at} />
              </span>
            </p>
            {quota.windows.map((window) => (
              <div key={window.name} className="flex items-center gap-2 text-small">
                <span className="w-28 truncate text-muted">{inert(window.name)}</span>
                <span className="h-1.5 flex-1 overflow-hidden rounded-full bg-line">
                  <span
                    className={`block h-full ${window.used > 0.8 ? 'bg-ask' : 'bg-accent'}`}
                    style={{ width: `${Math.min(100, window.used * 100)}%` }}
                  />
                </span>
                <span className="w-10 text-right">{formatPercent(window.used)}</span>
                {window.resetsAt && (
                  <span className="text-muted">
                    resets <Ago at={window.resetsAt} />
                  </span>
                )}
              </div>
            ))}
          </li>
        ))}
      </Rows>
    </Section>
  )
}

function Agents() {
  const { data, error, refetch } = useQuery(agentsQuery())
  if (error) return <ErrorBox error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton rows={1} height={64} />
  return (
    <Rows label="Agents">
      {data.map((agent) => (
        <AgentRow key={agent.name} agent={agent} />
      ))}
    </Rows>
  )
}

const CAPABILITY_WORDS: Readonly<Record<keyof NonNullable<Agent['capabilities']>, string>> = {
  resume: 'resumes',
  sessionId: 'takes session ids',
  fork: 'forks',
  partialMessages: 'streams',
  permissionPrompt: 'asks for permission',
  budget: 'keeps budgets',
  structuredOutput: 'reports in a schema',
  toolChoice: 'tools can be chosen',
  sealing: 'can be sealed',
}

function AgentRow({ agent }: { agent: Agent }) {
  const { capabilities } = agent
  return (
    <li className="px-3 py-2">
      <p className="flex flex-wrap items-center gap-2">
        <Mark
          standing={agent.available ? 'done' : 'fail'}
          label={agent.available ? 'available' : 'not available'}
        />
        <span className="font-semibold">{agent.name}</span>
        <span className="text-muted">{agent.version ?? agent.adapter}</span>
        {agent.simulated && <Badge standing="ask">simulated</Badge>}
        {agent.loggedIn === false && <Badge standing="ask">not logged in</Badge>}
      </p>
      {agent.problem && <p className="pl-6 text-fail">{inert(agent.problem)}</p>}
      <p className="pl-6 text-small text-muted">
        <Middle text={agent.path ?? agent.command} max={64} mono />
      </p>
      {capabilities && (
        <p className="mt-1 flex flex-wrap gap-1 pl-6">
          {(Object.keys(CAPABILITY_WORDS) as (keyof typeof CAPABILITY_WORDS)[]).map((name) => (
            <span
              key={name}
              className={`text-label ${capabilities[name] ? 'rounded bg-raised px-1.5 py-px' : 'px-1.5 text-muted line-through'}`}
            >
              {CAPABILITY_WORDS[name]}
            </span>
          ))}
        </p>
      )}
    </li>
  )
}

function Tokens() {
  const { data, error } = useQuery(tokensQuery())
  const act = useAct()
  if (error) return <ErrorBox error={error} />
  if (!data) return <Skeleton rows={2} />
  return (
    <>
      <Rows label="Tokens">
        {data.map((token) => (
          <li key={token.id} className="flex min-h-10 flex-wrap items-center gap-x-3 px-3 py-1.5">
            <span className="font-medium">{inert(token.name) || 'a link'}</span>
            {token.current && <Badge standing="done">this browser</Badge>}
            <span className="text-muted">{token.kind.replace('-', ' ')}</span>
            <Badge>{token.scope}</Badge>
            <span className="ml-auto text-small text-muted">
              {token.lastUsedAt ? (
                <>
                  used <Ago at={token.lastUsedAt} />
                  {token.lastUsedFrom && ` from ${token.lastUsedFrom}`}
                </>
              ) : (
                <>
                  never used, made <Ago at={token.createdAt} />
                </>
              )}
            </span>
            {token.kind !== 'command-line' && (
              <Button
                kind="danger"
                busy={act.busy}
                onClick={() => void act.run(() => client.revokeToken(token.id))}
              >
                Revoke
              </Button>
            )}
          </li>
        ))}
      </Rows>
      {act.error !== null && <ErrorBox error={act.error} />}
      <p className="mt-2 text-small text-muted">
        Another browser, or a phone: <Copyable text="reprise open --print --name phone" />
      </p>
    </>
  )
}

function Recent() {
  const { data = [] } = useQuery(auditQuery())
  if (data.length === 0) return <p className="text-muted">Nobody has changed anything yet.</p>
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-small">
      {data.slice(0, 20).map((entry) => (
        <li key={entry.id} className="flex flex-wrap items-center gap-x-2 px-3 py-1.5">
          <span className="font-medium">{inert(entry.who)}</span>
          <span className="text-muted">{wordOf(entry)}</span>
          {entry.summary && <span>“{shorten(entry.summary, 60)}”</span>}
          {entry.subject && <code className="text-muted">{shortId(entry.subject)}</code>}
          <span className="ml-auto text-muted">
            <Ago at={entry.at} />
            {entry.from && ` from ${entry.from}`}
          </span>
        </li>
      ))}
    </ul>
  )
}

function Configuration() {
  const { data, error } = useQuery(configurationQuery())
  if (error) return <ErrorBox error={error} />
  if (!data) return <Skeleton rows={6} height={24} />
  return (
    <>
      <p className="mb-1 text-small text-muted">
        {data.sources.length === 0
          ? 'Defaults only.'
          : `From ${data.sources.map((one) => shorten(one, 60)).join(', ')}, and defaults.`}{' '}
        Secrets are hidden.
      </p>
      <Code code={toYaml(data.settings)} language="yaml" />
    </>
  )
}
