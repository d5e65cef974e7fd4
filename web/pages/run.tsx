/** One run: its transcript, readable and raw, beside what it is and what one can do. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { RunDetail } from '../../src/contract/run.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { runQuery } from '../data/queries.ts'
import { inert, shorten } from '../format/text.ts'
import { withLocalTimes } from '../format/time.ts'
import { standingOfRun, wordOfRun } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { ApprovalForm, Ask } from '../parts/asks.tsx'
import { Audit } from '../parts/audit.tsx'
import { Button, ErrorBox, PageTitle, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { RunFacts } from '../parts/run-facts.tsx'
import { pathOf } from '../parts/subject.tsx'
import { Markdown } from '../transcript/markdown.tsx'
import { TranscriptPanel } from '../transcript/panel.tsx'

export function RunPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: run, error, refetch } = useQuery(runQuery(id))
  useTitle(run ? shorten(run.prompt, 40) : 'Run')
  if (error && !run) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!run) {
    return (
      <Page>
        <Skeleton rows={8} />
      </Page>
    )
  }
  return <Shown run={run} />
}

function Shown({ run }: { run: RunDetail }) {
  const live = run.state !== 'settled'
  return (
    <div className="flex h-full min-h-[560px] flex-col px-4 pt-4 md:px-6">
      <PageTitle aside={<Actions run={run} />}>
        <span className="mr-2">{shorten(run.prompt, 90) || 'Run'}</span>
        <span className="text-base font-normal">
          <StateWord standing={standingOfRun(run)}>{wordOfRun(run)}</StateWord>
        </span>
      </PageTitle>
      <div className="flex min-h-0 flex-1 gap-6 pb-4 max-lg:flex-col max-lg:overflow-y-auto">
        <aside className="w-80 shrink-0 overflow-y-auto max-lg:w-auto max-lg:overflow-visible">
          <Origin run={run} />
          <Waiting run={run} />
          <RunFacts run={run} attempts={run.attempts} />
          <Prompt text={run.prompt} />
          <Audit subject={run.id} />
        </aside>
        <section
          aria-label="Transcript"
          className="flex min-h-96 min-w-0 flex-1 flex-col rounded-lg border border-line bg-surface"
        >
          <TranscriptPanel of={{ runId: run.id }} live={live} />
        </section>
      </div>
    </div>
  )
}

function Origin({ run }: { run: RunDetail }) {
  const of = run.jobId
    ? ({ kind: 'job', id: run.jobId } as const)
    : run.conversationId
      ? ({ kind: 'conversation', id: run.conversationId } as const)
      : run.cycleId
        ? ({ kind: 'cycle', id: run.cycleId } as const)
        : null
  if (!of && !run.parentRunId) return null
  return (
    <p className="mb-2 flex gap-3 text-small">
      {of && (
        <Link to={pathOf(of)} className="text-accent hover:underline">
          ← {of.kind === 'cycle' ? 'incident' : of.kind}
        </Link>
      )}
      {run.parentRunId && (
        <Link to="/runs/$id" params={{ id: run.parentRunId }} className="text-accent hover:underline">
          ← run before
        </Link>
      )}
    </p>
  )
}

function Waiting({ run }: { run: RunDetail }) {
  return (
    <>
      {run.pending.map((ask) => (
        <div key={ask.toolUseId} className="mb-4 rounded-lg border border-ask bg-surface p-3">
          <p className="mb-2 font-medium text-ask">
            ◆ {ask.kind === 'permission' ? `Asks to use ${ask.tool}` : 'Asks you'}
          </p>
          <Ask runId={run.id} ask={ask} workDir={run.workDir} />
        </div>
      ))}
      {run.escalation?.decision === 'ask' && (
        <div className="mb-4 rounded-lg border border-ask bg-surface p-3">
          <ApprovalForm escalation={run.escalation} />
        </div>
      )}
      {run.state !== 'running' && run.message && run.message !== 'completed' && (
        <p
          className={`mb-3 ${run.state === 'settled' && run.outcome !== 'completed' ? 'text-fail' : 'text-muted'}`}
        >
          {withLocalTimes(inert(run.message)).slice(0, 1000)}
          {run.notBefore && (
            <span>
              {' '}
              Goes on <Ago at={run.notBefore} />.
            </span>
          )}
        </p>
      )}
    </>
  )
}

function Actions({ run }: { run: RunDetail }) {
  const act = useAct()
  return (
    <>
      {act.error !== null && <span className="text-fail">{String((act.error as Error).message)}</span>}
      {run.state === 'queued' && (run.paused || run.notBefore) && (
        <Button kind="main" busy={act.busy} onClick={() => void act.run(() => client.continueRun(run.id))}>
          Start now
        </Button>
      )}
      {run.state !== 'settled' && (
        <Button kind="danger" busy={act.busy} onClick={() => void act.run(() => client.cancelRun(run.id))}>
          Cancel
        </Button>
      )}
    </>
  )
}

export function Prompt({ text }: { text: string }) {
  return (
    <details className="mt-3" open={text.length < 400}>
      <summary className="text-label font-semibold tracking-wider text-muted uppercase">Prompt</summary>
      <div className="mt-1 max-h-80 overflow-y-auto">
        <Markdown text={text} />
      </div>
    </details>
  )
}
