/** The machine: agents, sandbox, limits, who may call the daemon, and the configuration in force. */
import { useQuery } from '@tanstack/react-query'
import type { Status } from '../../src/contract/http.ts'
import { useTitle } from '../data/hooks.ts'
import { configurationQuery, statusQuery } from '../data/queries.ts'
import { formatBytes, formatCount, plural } from '../format/amounts.ts'
import { inert, shorten, shortId } from '../format/text.ts'
import { toYaml } from '../format/yaml.ts'
import { Recent, Tokens } from '../machine/access.tsx'
import { Agents } from '../machine/agents.tsx'
import { Kept } from '../machine/kept.tsx'
import { Quotas } from '../machine/quotas.tsx'
import { Limits, Storage } from '../machine/storage.tsx'
import { Trusted } from '../machine/trusted.tsx'
import { ErrorBox, Fact, Mark, Middle, PageTitle, Rows, Section, Skeleton } from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { Code } from '../transcript/code.tsx'

export function Machine() {
  useTitle('Machine')
  const { data: status, error, refetch } = useQuery(statusQuery())
  return (
    <Page>
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
          <Section title="Limits">
            <Limits />
            {status && status.quotas.length > 0 ? (
              <Quotas status={status} />
            ) : (
              <p className="text-muted">No agent has reported how much of its account’s quota is used.</p>
            )}
          </Section>
          <Section title="Storage and retention">
            <Storage />
          </Section>
          <Section title="Configuration in force">
            <Configuration />
          </Section>
        </div>
        <div className="min-w-0">
          {status && <Problems status={status} />}
          {status && status.kept.length > 0 && (
            <Section title="Kept processes" count={status.kept.length}>
              <Kept processes={status.kept} />
            </Section>
          )}
          <Section title="Trusted directories">
            <Trusted />
          </Section>
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
