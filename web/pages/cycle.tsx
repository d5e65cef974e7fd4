/** One incident: the chain of tiers with what each found and did, its follow-ups, refusals and approvals. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ChainRun } from '../../src/contract/chain.ts'
import type { CycleDetail } from '../../src/contract/cycle.ts'
import type { Escalation } from '../../src/contract/escalation.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { startText } from '../../src/contract/start-text.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { auditQuery, cycleQuery } from '../data/queries.ts'
import { formatCost, formatTokens, plural } from '../format/amounts.ts'
import { inert, shorten } from '../format/text.ts'
import { formatClockSeconds, formatExact, formatSpan } from '../format/time.ts'
import { modelName, standingOfRun, tierName, wordOfRun } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { ApprovalForm, Ask } from '../parts/asks.tsx'
import { Audit } from '../parts/audit.tsx'
import {
  Badge,
  Button,
  ErrorBox,
  Fact,
  Mark,
  PageTitle,
  Section,
  Skeleton,
  StateWord,
} from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { Code } from '../transcript/code.tsx'
import { FollowUpLine } from '../watch/follow-up-line.tsx'
import { type Axis, StepList } from '../watch/step-list.tsx'
import { STATUS_STANDING, standingOfCycle, TRIGGER_WORDS, wordOfCycle } from '../watch/words.ts'
import { Prompt } from './run.tsx'

export function CyclePage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: cycle, error, refetch } = useQuery(cycleQuery(id))
  useTitle(cycle ? `${cycle.watch} #${cycle.number}` : 'Incident')
  if (error && !cycle) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!cycle) {
    return (
      <Page>
        <Skeleton rows={6} height={72} />
      </Page>
    )
  }
  const runs = cycle.chain?.runs ?? []
  const axis = {
    from: Date.parse(cycle.startedAt ?? cycle.dueAt),
    to: cycle.endedAt === null ? null : Date.parse(cycle.endedAt),
  }
  const [event] = cycle.events
  const first = runs.find(({ escalation }) => escalation?.recommendation.signal)?.escalation?.recommendation
    .signal?.status
  return (
    <Page>
      <PageTitle aside={<Actions cycle={cycle} />}>
        <span className="mr-3 whitespace-nowrap">
          <Link to="/watches/$id" params={{ id: cycle.watch }} className="hover:underline">
            {cycle.watch}
          </Link>{' '}
          #{cycle.number}
        </span>
        <span className="text-base font-normal">
          {first && cycle.status && first !== cycle.status ? (
            <span className="whitespace-nowrap">
              <Status status={first} /> <span className="text-muted">→</span> <Status status={cycle.status} />
            </span>
          ) : cycle.status ? (
            <Status status={cycle.status} />
          ) : (
            <StateWord standing={standingOfCycle(cycle)}>{wordOfCycle(cycle)}</StateWord>
          )}
          <span className="mr-1 ml-3 text-muted">
            {cycle.startedAt && <Elapsed from={cycle.startedAt} to={cycle.endedAt} />}
          </span>{' '}
          <span className="mx-2">{formatCost(cycle.costUsd, cycle.costEstimated)}</span>{' '}
          {event && (
            <span className="ml-1 text-muted">
              triggered by {shorten(event.title, 60)}
              {cycle.events.length > 1 && ` and ${cycle.events.length - 1} more`}
            </span>
          )}
        </span>
      </PageTitle>
      <div className="flex gap-8 max-lg:flex-col">
        <div className="min-w-0 flex-1">
          {cycle.summary && <p className="mb-4 max-w-[76ch]">{inert(cycle.summary)}</p>}
          <Section title="Chain" count={runs.length}>
            {runs.length === 0 ? (
              <p className="text-muted">
                {cycle.message ? inert(cycle.message) : 'Nothing has started yet.'}
              </p>
            ) : (
              <ol>
                {runs.map((run, index) => (
                  <ChainStep
                    key={run.id}
                    run={run}
                    isLast={index === runs.length - 1}
                    axis={axis}
                    followUps={cycle.followUps.filter((one) => one.runId === run.id)}
                  />
                ))}
              </ol>
            )}
          </Section>
          {cycle.chain && (
            <p className="-mt-3 mb-6 text-muted">
              Total {formatCost(cycle.chain.totals.costUsd, cycle.chain.totals.costEstimated)} ·{' '}
              {plural(cycle.chain.totals.runs, 'run')} · {formatSpan(cycle.chain.totals.durationMs)} of work ·{' '}
              {formatTokens(
                cycle.usage.inputTokens + cycle.usage.cacheReadTokens + cycle.usage.cacheWriteTokens,
              )}{' '}
              tokens in · {plural(cycle.chain.totals.refusals, 'refusal')}
            </p>
          )}
        </div>
        <aside className="w-80 shrink-0 max-lg:w-auto">
          <Facts cycle={cycle} />
          {cycle.events.map((event) => (
            <details
              key={event.fingerprint}
              className="mt-3 rounded-lg border border-line bg-surface px-3 py-2"
            >
              <summary className="font-medium">{inert(event.title)}</summary>
              <p className="my-1 text-label text-muted">
                received <Ago at={event.receivedAt} />
              </p>
              <Code code={JSON.stringify(event.payload, null, 2) ?? ''} language="json" />
            </details>
          ))}
          <Prompt text={cycle.prompt} />
          <Audit subject={cycle.id} />
        </aside>
      </div>
    </Page>
  )
}

function Status({ status }: { status: NonNullable<CycleDetail['status']> }) {
  return <StateWord standing={STATUS_STANDING[status]}>{status}</StateWord>
}

function ChainStep({
  run,
  isLast,
  axis,
  followUps,
}: {
  run: ChainRun
  isLast: boolean
  axis: Axis
  followUps: readonly FollowUp[]
}) {
  const signal = run.escalation?.recommendation.signal ?? null
  return (
    <li className="relative flex gap-3 pb-4">
      {!isLast && <span aria-hidden="true" className="absolute top-6 bottom-0 left-[7px] w-px bg-line" />}
      <div className="pt-2.5">
        <Mark standing={standingOfRun(run)} label={wordOfRun(run)} />
      </div>
      <div className="min-w-0 flex-1 rounded-lg border border-line bg-surface">
        <div className="flex min-h-10 flex-wrap items-center gap-x-3 px-3 py-1.5">
          <Link to="/runs/$id" params={{ id: run.id }} data-row className="font-semibold hover:underline">
            {run.tier === null ? 'run' : tierName(run.tier)}
          </Link>
          {run.followUpId && <Badge standing="wait">follow-up</Badge>}
          <span className="text-muted">{modelName(run.model)}</span>
          <span className="text-label text-muted">{startText(run)}</span>
          <span className="ml-auto flex gap-3 max-sm:ml-0 max-sm:w-full max-sm:text-small">
            <span>{formatCost(run.costUsd, run.costEstimated)}</span>
            <span className="w-14 text-right text-muted max-sm:w-auto">
              {run.startedAt && <Elapsed from={run.startedAt} to={run.endedAt} />}
            </span>
            <span className="text-muted" title={formatExact(run.createdAt)}>
              {formatClockSeconds(run.startedAt ?? run.createdAt)}
            </span>
          </span>
        </div>
        <div className="border-t border-line px-3 py-2">
          {signal ? (
            <>
              <p>
                <StateWord standing={STATUS_STANDING[signal.status]}>{signal.status}</StateWord>
                <span className="ml-2">{inert(signal.summary)}</span>
              </p>
              {signal.checks.length > 0 && (
                <ul className="mt-1 text-small text-muted">
                  {signal.checks.map((check) => (
                    <li key={`${check.name}${check.finding}`}>
                      {check.status === 'ok' ? '✓' : check.status === 'problem' ? '✕' : '?'}{' '}
                      {inert(check.name)}: {inert(check.finding)}
                    </li>
                  ))}
                </ul>
              )}
              {signal.actions.length > 0 && (
                <ul className="mt-1 text-small">
                  {signal.actions.map((action) => (
                    <li key={action.action}>
                      <span className="text-muted">
                        {action.outcome === 'done' ? 'did' : action.outcome}:
                      </span>{' '}
                      <code>{inert(action.action)}</code>
                    </li>
                  ))}
                </ul>
              )}
            </>
          ) : (
            <p className="text-muted">{run.message ? shorten(run.message, 300) : wordOfRun(run)}</p>
          )}
          {run.state !== 'queued' && <StepList run={run} axis={axis} />}
          {run.refused.map((refusal) => (
            <p key={`${refusal.what}${refusal.reason}`} className="mt-1 text-small text-muted">
              <span className="text-fail">refused</span> <code>{inert(refusal.what)}</code>{' '}
              <span>
                ({inert(refusal.reason)}
                {refusal.dryRun ? ', dry run' : ''})
              </span>
            </p>
          ))}
          {run.pending.map((ask) => (
            <div key={ask.toolUseId} className="mt-2 border-t border-line pt-2">
              <Ask runId={run.id} ask={ask} workDir={run.workDir} />
            </div>
          ))}
          {followUps.map((followUp) => (
            <FollowUpLine key={followUp.id} followUp={followUp} />
          ))}
          {run.escalation && <Decision escalation={run.escalation} />}
        </div>
      </div>
    </li>
  )
}

function Decision({ escalation }: { escalation: Escalation }) {
  const { data: audit = [] } = useQuery(auditQuery(escalation.runId))
  if (escalation.decision === 'ask') {
    return (
      <div className="mt-2 rounded-md border border-ask bg-ask-soft p-2.5">
        <ApprovalForm escalation={escalation} />
      </div>
    )
  }
  const by = audit.find(({ operation }) => operation === 'decideApproval')
  return (
    <p className="mt-1.5 text-small">
      <span className="text-muted">→</span>{' '}
      {escalation.decision === 'escalate' && escalation.toTier !== null ? (
        <span className="font-medium">{tierName(escalation.toTier)}</span>
      ) : (
        <span className="text-muted">ends here</span>
      )}
      <span className="ml-1.5 text-muted">
        {shorten(escalation.recommendation.signal?.reason || escalation.message, 160)}
      </span>
      {escalation.decidedBy === 'person' && (
        <span className="ml-1.5 text-muted">
          · {escalation.reason === 'refused' ? 'refused' : 'approved'} by{' '}
          {by ? `“${inert(by.who)}”` : 'a person'}
          {by?.from && ` from ${by.from}`}
        </span>
      )}
      {escalation.decidedBy === 'timeout' && (
        <span className="ml-1.5 text-muted">· nobody answered in time</span>
      )}
    </p>
  )
}

function Facts({ cycle }: { cycle: CycleDetail }) {
  return (
    <dl>
      <Fact name="state">
        <StateWord standing={standingOfCycle(cycle)}>{wordOfCycle(cycle)}</StateWord>
      </Fact>
      <Fact name="started by">{TRIGGER_WORDS[cycle.trigger]}</Fact>
      {cycle.message && <Fact name="message">{inert(cycle.message)}</Fact>}
      {cycle.takenBy && (
        <Fact name="events">
          <Link
            to="/cycles/$id"
            params={{ id: cycle.takenBy }}
            data-row
            className="text-accent hover:underline"
          >
            in the cycle that took them
          </Link>
        </Fact>
      )}
      <Fact name="began">{cycle.startedAt ? <Ago at={cycle.startedAt} /> : <Ago at={cycle.dueAt} />}</Fact>
      {cycle.deadlineAt && !cycle.endedAt && (
        <Fact name="ends at">
          <Ago at={cycle.deadlineAt} /> <span className="text-muted">at the latest</span>
        </Fact>
      )}
      {cycle.renewed && <Fact name="session">new: {inert(cycle.renewed)}</Fact>}
      {cycle.pendingFollowUps > 0 && (
        <Fact name="planned">{plural(cycle.pendingFollowUps, 'follow-up')}</Fact>
      )}
    </dl>
  )
}

function Actions({ cycle }: { cycle: CycleDetail }) {
  const act = useAct()
  if (cycle.state === 'ended' || cycle.state === 'skipped') return null
  return (
    <>
      {act.error !== null && <ErrorBox error={act.error} />}
      <Button kind="danger" busy={act.busy} onClick={() => void act.run(() => client.cancelCycle(cycle.id))}>
        Cancel incident
      </Button>
    </>
  )
}
