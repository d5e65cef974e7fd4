/** The list of requests that need a person, each answerable in its row. */
import type { NeedsYou } from '../../src/contract/overview.ts'
import { client } from '../data/client.ts'
import { formatCost, formatTokens } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { withLocalTimes } from '../format/time.ts'
import { ATTENTION_WORDS, tierName } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { ApprovalForm, Ask } from '../parts/asks.tsx'
import { Button, ErrorBox, Mark } from '../parts/base.tsx'
import { Elapsed } from '../parts/clock.tsx'
import { RaiseBudget } from '../parts/raise-budget.tsx'
import { SubjectLink } from '../parts/subject.tsx'

export const keyOfNeed = (need: NeedsYou) =>
  need.kind === 'question' ? `${need.runId}/${need.question.toolUseId}` : need.runId

export function NeedRow({ need }: { need: NeedsYou }) {
  return (
    <li className="border-l-2 border-l-ask px-3 py-2.5">
      <div className="mb-1.5 flex items-center gap-x-2 max-sm:flex-wrap">
        <Mark standing="ask" />
        <span className="flex min-w-0 max-sm:basis-4/5">
          <SubjectLink subject={need.subject} />
        </span>
        <span className="whitespace-nowrap text-muted">{needText(need)}</span>
        <span className="ml-auto whitespace-nowrap text-muted">
          waits <Elapsed from={need.since} />
        </span>
      </div>
      <div className="pl-6 max-sm:pl-0">
        {need.kind === 'question' ? (
          <Ask runId={need.runId} ask={need.question} workDir={need.workDir} />
        ) : need.kind === 'approval' ? (
          <ApprovalForm escalation={need.escalation} />
        ) : need.kind === 'job' ? (
          <PausedJob need={need} />
        ) : (
          <PausedRun need={need} />
        )}
      </div>
    </li>
  )
}

function needText(need: NeedsYou): string {
  if (need.kind === 'question')
    return need.question.kind === 'permission' ? `asks to use ${need.question.tool}` : 'asks'
  if (need.kind === 'approval')
    return need.escalation.toTier ? `asks for ${tierName(need.escalation.toTier)}` : 'asks'
  if (need.kind === 'job') return `paused: ${ATTENTION_WORDS[need.attention]}`
  return 'paused'
}

function PausedJob({ need }: { need: Extract<NeedsYou, { kind: 'job' }> }) {
  const act = useAct()
  const buttons = (
    <>
      <Button kind="danger" busy={act.busy} onClick={() => void act.run(() => client.cancelJob(need.jobId))}>
        Cancel job
      </Button>
      <span className="text-small text-muted">
        {formatCost(need.spentUsd)} spent
        {need.maxBudgetUsd !== null && ` of ${formatCost(need.maxBudgetUsd)}`}
        {need.maxBudgetTokens !== null &&
          `, ${formatTokens(need.spentTokens)} of ${formatTokens(need.maxBudgetTokens)} tokens`}
      </span>
    </>
  )
  return (
    <div>
      {need.message && <p className="mb-2 text-muted">{withLocalTimes(inert(need.message)).slice(0, 400)}</p>}
      {need.attention === 'budget' ? (
        <RaiseBudget jobId={need.jobId} budgets={need} label="Raise and continue">
          {buttons}
        </RaiseBudget>
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <Button kind="main" busy={act.busy} onClick={() => void act.run(() => client.retryJob(need.jobId))}>
            Continue
          </Button>
          {buttons}
        </div>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

function PausedRun({ need }: { need: Extract<NeedsYou, { kind: 'run' }> }) {
  const act = useAct()
  return (
    <div>
      {need.message && <p className="mb-2 text-muted">{withLocalTimes(inert(need.message)).slice(0, 400)}</p>}
      <div className="flex gap-2">
        <Button
          kind="main"
          busy={act.busy}
          onClick={() => void act.run(() => client.continueRun(need.runId))}
        >
          Continue now
        </Button>
        <Button
          kind="danger"
          busy={act.busy}
          onClick={() => void act.run(() => client.cancelRun(need.runId))}
        >
          Cancel
        </Button>
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}
