/** One watch: what it checks, and its cycles. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Cycle } from '../../src/contract/cycle.ts'
import type { Watch } from '../../src/contract/watch.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { cyclesQuery, watchQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { formatClock, formatExact, formatSpan } from '../format/time.ts'
import { useAct } from '../parts/act.ts'
import { Audit } from '../parts/audit.tsx'
import {
  Button,
  Empty,
  ErrorBox,
  Fact,
  Middle,
  PageTitle,
  Section,
  Skeleton,
  StateWord,
} from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { WatchActions } from '../watch/actions.tsx'
import { STATUS_STANDING, standingOfCycle, TRIGGER_WORDS, wordOfCycle } from '../watch/words.ts'
import { Prompt } from './run.tsx'

export function WatchPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: watch, error, refetch } = useQuery(watchQuery(id))
  const { data: cycles } = useQuery(cyclesQuery(id, 100))
  useTitle(watch ? watch.name : 'Watch')
  if (error && !watch) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!watch) {
    return (
      <Page wide>
        <Skeleton rows={6} />
      </Page>
    )
  }
  return (
    <Page wide>
      <PageTitle aside={<WatchActions watch={watch} />}>
        {watch.name}{' '}
        <span className="text-base font-normal text-muted">{watch.schedule ?? 'when it is triggered'}</span>
      </PageTitle>
      <div className="flex gap-8 max-lg:flex-col">
        <aside className="w-80 shrink-0 max-lg:w-auto">
          <Facts watch={watch} />
          {watch.source === 'api' ? (
            <EditPrompt key={watch.updatedAt} watch={watch} />
          ) : (
            <Prompt text={watch.prompt} />
          )}
          <Audit subject={watch.id} />
        </aside>
        <div className="min-w-0 flex-1">
          <Section title="Cycles" count={watch.cycles}>
            {!cycles ? (
              <Skeleton rows={6} height={32} />
            ) : cycles.length === 0 ? (
              <Empty command={`reprise watch trigger ${watch.name}`}>It has not run yet. Start it now:</Empty>
            ) : (
              <Cycles cycles={cycles} />
            )}
          </Section>
        </div>
      </div>
    </Page>
  )
}

function Facts({ watch }: { watch: Watch }) {
  return (
    <dl>
      <Fact name="state">{watch.state}</Fact>
      <Fact name="next">
        {watch.nextAt && watch.state === 'active' ? (
          <span title={formatExact(watch.nextAt)}>
            {formatClock(watch.nextAt)}, <Ago at={watch.nextAt} />
          </span>
        ) : (
          'not by itself'
        )}
      </Fact>
      <Fact name="highest tier">{watch.maxTier ?? 'as configured'}</Fact>
      <Fact name="memory">
        {watch.memory === 'fresh' ? 'a new session each time' : 'one session that continues'}
      </Fact>
      <Fact name="overlap">{watch.overlap}</Fact>
      {watch.maxBudgetUsd !== undefined && (
        <Fact name="budget">{formatCost(watch.maxBudgetUsd)} per cycle</Fact>
      )}
      {watch.maxBudgetUsdPerDay !== undefined && (
        <Fact name="per day">{formatCost(watch.maxBudgetUsdPerDay)}</Fact>
      )}
      {watch.maxDurationMs !== undefined && (
        <Fact name="duration">at most {formatSpan(watch.maxDurationMs)}</Fact>
      )}
      <Fact name="directory">
        <Middle text={watch.workDir} max={40} mono />
      </Fact>
      <Fact name="events">{watch.hasHookSecret ? 'with its own secret' : 'with a token'}</Fact>
      <Fact name="defined in">{watch.source === 'config' ? 'the configuration' : 'Reprise'}</Fact>
    </dl>
  )
}

function EditPrompt({ watch }: { watch: Watch }) {
  const act = useAct()
  const [prompt, setPrompt] = useState(watch.prompt)
  return (
    <div className="mt-3">
      <label className="text-label font-semibold tracking-wider text-muted uppercase">
        Prompt
        <textarea
          value={prompt}
          rows={6}
          onChange={(event) => setPrompt(event.target.value)}
          className="mt-1 block w-full rounded-md border border-line bg-surface px-2 py-1.5 text-base font-normal tracking-normal text-text normal-case"
        />
      </label>
      {prompt !== watch.prompt && (
        <Button
          kind="main"
          className="mt-1"
          busy={act.busy}
          disabled={prompt.trim() === ''}
          onClick={() => void act.run(() => client.updateWatch(watch.id, { prompt }))}
        >
          Save
        </Button>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

function Cycles({ cycles }: { cycles: readonly Cycle[] }) {
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full text-small">
        <thead className="text-label text-muted">
          <tr className="h-8 border-b border-line text-left">
            <th scope="col" className="px-3 font-normal">
              #
            </th>
            <th scope="col" className="px-2 font-normal">
              outcome
            </th>
            <th scope="col" className="px-2 font-normal">
              summary
            </th>
            <th scope="col" className="px-2 font-normal max-md:hidden">
              started by
            </th>
            <th scope="col" className="px-2 text-right font-normal">
              tier
            </th>
            <th scope="col" className="px-2 text-right font-normal">
              took
            </th>
            <th scope="col" className="px-2 text-right font-normal">
              cost
            </th>
            <th scope="col" className="px-3 text-right font-normal">
              when
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {cycles.map((cycle) => (
            <tr key={cycle.id} className="h-8 hover:bg-raised">
              <td className="px-3">
                <Link
                  to="/cycles/$id"
                  params={{ id: cycle.id }}
                  data-row
                  className="font-medium hover:underline"
                >
                  {cycle.number}
                </Link>
              </td>
              <td className="px-2">
                <StateWord standing={cycle.status ? STATUS_STANDING[cycle.status] : standingOfCycle(cycle)}>
                  {cycle.status ?? wordOfCycle(cycle)}
                </StateWord>
              </td>
              <td
                className="w-full max-w-0 min-w-40 truncate px-2 text-muted"
                title={cycle.summary ?? cycle.message ?? undefined}
              >
                {shorten(cycle.summary ?? cycle.message ?? '', 120)}
              </td>
              <td className="px-2 text-muted max-md:hidden">{TRIGGER_WORDS[cycle.trigger].split(',')[0]}</td>
              <td className="px-2 text-right">{cycle.tier ?? '–'}</td>
              <td className="px-2 text-right text-muted">
                {cycle.startedAt ? <Elapsed from={cycle.startedAt} to={cycle.endedAt} /> : '–'}
              </td>
              <td className="px-2 text-right">{formatCost(cycle.costUsd, cycle.costEstimated)}</td>
              <td className="px-3 text-right whitespace-nowrap text-muted">
                <Ago at={cycle.startedAt ?? cycle.dueAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
