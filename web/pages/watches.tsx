/** All watches: when they fire next, and how the last cycles went. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Watch } from '../../src/contract/watch.ts'
import { useTitle } from '../data/hooks.ts'
import { watchesQuery } from '../data/queries.ts'
import { shorten } from '../format/text.ts'
import {
  Badge,
  Button,
  Dialog,
  Empty,
  ErrorBox,
  Mark,
  PageTitle,
  Rows,
  Skeleton,
  StateWord,
} from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { WatchActions } from '../watch/actions.tsx'
import { WatchForm } from '../watch/form.tsx'
import { Strip } from '../watch/strip.tsx'
import { STATUS_STANDING, standingOfCycle, wordOfCycle } from '../watch/words.ts'

export function Watches() {
  useTitle('Watches')
  const { data, error, refetch } = useQuery(watchesQuery())
  const [creating, setCreating] = useState(false)
  return (
    <Page>
      <PageTitle
        aside={
          <Button kind="main" onClick={() => setCreating(true)}>
            New watch
          </Button>
        }
      >
        Watches
      </PageTitle>
      <Dialog title="New watch" open={creating} onClose={() => setCreating(false)}>
        <WatchForm watch={null} recentDir={data?.[0]?.workDir ?? ''} onDone={() => setCreating(false)} />
      </Dialog>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={3} height={64} />
      ) : data.length === 0 ? (
        <Empty command='reprise watch add web --every 30m "Check that http://127.0.0.1:8080 answers."'>
          There are no watches yet. A watch is a check that is repeated:
        </Empty>
      ) : (
        <Rows label="Watches">
          {data.map((watch) => (
            <WatchRow key={watch.id} watch={watch} />
          ))}
        </Rows>
      )}
    </Page>
  )
}

function WatchRow({ watch }: { watch: Watch }) {
  const { lastCycle } = watch
  return (
    <li className="flex min-h-16 items-center gap-x-4 gap-y-1 px-3 py-2 max-md:flex-wrap">
      <Mark
        standing={watch.state === 'paused' ? 'off' : lastCycle ? standingOfCycle(lastCycle) : 'wait'}
        label={watch.state}
      />
      <div className="min-w-0 flex-1 max-md:basis-3/4">
        <p className="flex items-center gap-2">
          <Link
            to="/watches/$id"
            params={{ id: watch.name }}
            data-row
            className="font-semibold hover:underline"
          >
            {watch.name}
          </Link>
          {watch.state === 'paused' && <Badge>paused</Badge>}
          {watch.dryRun && <Badge>dry run</Badge>}
          <span className="text-muted">{watch.schedule ?? 'when it is triggered'}</span>
          {watch.source === 'config' && <span className="text-label text-muted">from the configuration</span>}
        </p>
        <p className="truncate text-small text-muted">{shorten(watch.prompt, 140)}</p>
      </div>
      <Strip watch={watch.id} />
      <div className="w-44 text-small max-md:w-auto max-md:pl-8">
        {lastCycle ? (
          <Link to="/cycles/$id" params={{ id: lastCycle.id }} className="block truncate hover:underline">
            <StateWord
              standing={lastCycle.status ? STATUS_STANDING[lastCycle.status] : standingOfCycle(lastCycle)}
            >
              {lastCycle.status ?? wordOfCycle(lastCycle)}
            </StateWord>{' '}
            <span className="text-muted">
              #{lastCycle.number}, <Ago at={lastCycle.endedAt ?? lastCycle.dueAt} />
            </span>
          </Link>
        ) : (
          <span className="text-muted">no cycle yet</span>
        )}
        <span className="block text-muted">
          {watch.nextAt && watch.state === 'active' ? (
            <>
              next <Ago at={watch.nextAt} />
            </>
          ) : (
            ''
          )}
        </span>
      </div>
      <WatchActions watch={watch} />
    </li>
  )
}
