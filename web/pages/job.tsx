/** One job: what it is and what one can do, its attempts as a timeline, its checkpoints, and its transcript. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { JobDetail } from '../../src/contract/job.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { jobQuery } from '../data/queries.ts'
import { formatBytes, formatCost, formatPercent, formatTokens, plural } from '../format/amounts.ts'
import { inert, shorten, shortId } from '../format/text.ts'
import { formatSpan, withLocalTimes } from '../format/time.ts'
import { ATTENTION_WORDS, modelName, standingOfJob, wordOfJob } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { Ask } from '../parts/asks.tsx'
import { Audit } from '../parts/audit.tsx'
import { Button, ErrorBox, Fact, Middle, PageTitle, Section, Skeleton, StateWord } from '../parts/base.tsx'
import { Checkpoints } from '../parts/checkpoints.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { RaiseBudget } from '../parts/raise-budget.tsx'
import { cacheShare } from '../parts/run-facts.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Markdown } from '../transcript/markdown.tsx'
import { TranscriptPanel } from '../transcript/panel.tsx'
import { Prompt } from './run.tsx'

export function JobPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: job, error, refetch } = useQuery(jobQuery(id))
  useTitle(job ? shorten(job.prompt, 40) : 'Job')
  if (error && !job) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!job) {
    return (
      <Page>
        <Skeleton rows={8} />
      </Page>
    )
  }
  return (
    <Page>
      <PageTitle aside={<Actions job={job} />}>
        <span className="mr-2">{shorten(job.prompt, 100)}</span>
        <span className="text-base font-normal">
          <StateWord standing={standingOfJob(job)}>{wordOfJob(job)}</StateWord>
        </span>
      </PageTitle>
      <div className="flex gap-8 max-lg:flex-col">
        <aside className="w-80 shrink-0 max-lg:w-auto">
          <Why job={job} />
          <Facts job={job} />
          <Prompt text={job.prompt} />
          <Audit subject={job.id} />
        </aside>
        <div className="min-w-0 flex-1">
          <Section title="Attempts" count={job.attempts.length}>
            <div className="rounded-lg border border-line bg-surface px-3 py-1.5">
              <Timeline attempts={job.attempts} />
            </div>
          </Section>
          {job.checkpoints.length > 0 && (
            <Section title="Checkpoints" count={job.checkpoints.length}>
              <Checkpoints job={job} />
            </Section>
          )}
          {job.resultText && (
            <Section title="Result">
              <div className="rounded-lg border border-line bg-surface px-4 py-3">
                <Markdown text={job.resultText} />
              </div>
            </Section>
          )}
          <Section title="Transcript">
            <div className="flex h-[60vh] flex-col rounded-lg border border-line bg-surface">
              <TranscriptPanel
                of={{ jobId: job.id, newestRunId: job.runId }}
                live={job.state === 'running'}
              />
            </div>
          </Section>
        </div>
      </div>
    </Page>
  )
}

function Why({ job }: { job: JobDetail }) {
  return (
    <>
      {job.pending.map((ask) => (
        <div key={ask.toolUseId} className="mb-4 rounded-lg border border-ask bg-surface p-3">
          <p className="mb-2 font-medium text-ask">
            ◆ {ask.kind === 'permission' ? `Asks to use ${inert(ask.tool ?? 'a tool')}` : 'Asks you'}
          </p>
          <Ask runId={job.runId} ask={ask} workDir={job.workDir} />
        </div>
      ))}
      {job.state === 'paused' && job.attention && job.pending.length === 0 && (
        <div className="mb-4 rounded-lg border border-ask bg-ask-soft px-3 py-2">
          <p className="font-medium text-ask">◆ Needs you: {ATTENTION_WORDS[job.attention]}</p>
          {job.message && <p className="mt-1">{inert(job.message).slice(0, 600)}</p>}
        </div>
      )}
      {job.state !== 'paused' && job.message && job.message !== 'completed' && (
        <p className={`mb-3 ${job.state === 'failed' ? 'text-fail' : 'text-muted'}`}>
          {withLocalTimes(inert(job.message)).slice(0, 600)}
          {job.waitingUntil && (
            <>
              {' '}
              Goes on <Ago at={job.waitingUntil} />.
            </>
          )}
        </p>
      )}
    </>
  )
}

function Facts({ job }: { job: JobDetail }) {
  const cached = cacheShare(job.usage)
  const { progress } = job
  return (
    <dl>
      <Fact name="agent">
        {job.agent} · {modelName(job.model)}
      </Fact>
      <Fact name="cost">
        {formatCost(job.spent.usd, job.costEstimated)}
        {job.maxBudgetUsd !== null && <span className="text-muted"> of {formatCost(job.maxBudgetUsd)}</span>}
        {job.spent.followUpRuns > 0 && (
          <span className="text-muted"> with {plural(job.spent.followUpRuns, 'follow-up')}</span>
        )}
      </Fact>
      <Fact name="took">{progress.elapsedMs === null ? 'not started' : formatSpan(progress.elapsedMs)}</Fact>
      <Fact name="work">
        {plural(progress.modelCalls, 'model call')}, {plural(progress.toolCalls, 'tool call')}
      </Fact>
      <Fact name="tokens">
        {formatTokens(progress.tokens)}
        {cached !== null && (
          <span className="text-muted"> · {formatPercent(cached)} of the input from cache</span>
        )}
      </Fact>
      <Fact name="resumes">
        {job.resumeCount} of at most {job.maxResumes}
      </Fact>
      <Fact name="priority">{job.priority}</Fact>
      <Fact name="directory">
        <Middle text={job.workDir} max={40} mono />
      </Fact>
      <Fact name="permissions">{job.permissions}</Fact>
      {job.session && (
        <Fact name="session">
          <Link
            to="/sessions/$id"
            params={{ id: job.session }}
            className="font-mono text-small text-accent hover:underline"
          >
            {shortId(job.sessionId ?? job.session)}
          </Link>
        </Fact>
      )}
      {job.archived.length > 0 && (
        <Fact name="archived">
          {plural(job.archived.length, 'transcript')},{' '}
          {formatBytes(job.archived.reduce((sum, { bytes }) => sum + bytes, 0))}
        </Fact>
      )}
      <Fact name="id">
        <code title={job.id}>{shortId(job.id)}</code>
      </Fact>
    </dl>
  )
}

function Actions({ job }: { job: JobDetail }) {
  const act = useAct()
  const [raising, setRaising] = useState(false)
  const open = ['queued', 'running', 'waiting', 'paused'].includes(job.state)
  const canRetry =
    ['paused', 'failed', 'cancelled', 'waiting'].includes(job.state) && job.pending.length === 0
  if (raising) {
    const budgets = {
      spentUsd: job.spent.usd,
      maxBudgetUsd: job.maxBudgetUsd,
      spentTokens: job.spent.tokens,
      maxBudgetTokens: job.maxBudgetTokens,
    }
    return (
      <RaiseBudget jobId={job.id} budgets={budgets} label="Set" onDone={() => setRaising(false)}>
        <Button onClick={() => setRaising(false)}>Close</Button>
      </RaiseBudget>
    )
  }
  return (
    <>
      {act.error !== null && <ErrorBox error={act.error} />}
      {canRetry && (
        <>
          <Button kind="main" busy={act.busy} onClick={() => void act.run(() => client.retryJob(job.id))}>
            {job.state === 'waiting' ? 'Start now' : 'Retry, resume'}
          </Button>
          {job.state !== 'waiting' && (
            <Button
              busy={act.busy}
              onClick={() => void act.run(() => client.retryJob(job.id, { resume: false }))}
            >
              Retry fresh
            </Button>
          )}
        </>
      )}
      {(open || job.attention === 'budget') && (
        <Button busy={act.busy} onClick={() => setRaising(true)}>
          Budget…
        </Button>
      )}
      {open && (
        <Button kind="danger" busy={act.busy} onClick={() => void act.run(() => client.cancelJob(job.id))}>
          Cancel
        </Button>
      )}
    </>
  )
}
