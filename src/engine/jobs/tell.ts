/**
 * Notifications about jobs. They are planned here, stored with the change that they report, and sent by the notifier.
 */
import type { EventOf } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { cutMiddle, describeCall, visible } from '../../contract/visible-text.ts'
import type { Clock } from '../../core/clock.ts'
import { jobStateOf } from '../../core/job/state.ts'
import { describeJobNotice, noticeOfJob } from '../../core/notify/job.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Notifications } from '../base/notifications.ts'
import { describeJob } from './describe.ts'

export interface TellDeps {
  store: Pick<
    Store,
    'getJob' | 'getRun' | 'getSession' | 'listRunsOfJobs' | 'listSpendOf' | 'enqueueNotifications'
  >
  clock: Clock
  redactor: Redactor
  notifications: Pick<Notifications, 'plan' | 'wake'>
  settings: { resume: { maxResumes: number } }
}

/** The notifications about a job whose run settles with this outcome. `run` is the run as it will be stored. */
export async function readEndNotices(
  parts: TellDeps,
  run: RunRecord,
  outcome: Outcome,
): Promise<PlannedNotification[]> {
  const job = run.links.jobId && (await parts.store.getJob(run.links.jobId))
  if (!job) return []
  const endedAt = parts.clock.now()
  const settled: RunRecord = { ...run, state: { at: 'settled', outcome, endedAt } }
  const state = jobStateOf({ at: 'settled', outcome: outcome.name })
  const notice = noticeOfJob(await describe(parts, { ...job, ...state }, settled))
  return notice ? parts.notifications.plan(notice, job.options.webhook) : []
}

const MAX_ASK_CHARS = 64_000

/** Notifies people that the agent waits for an answer. */
export async function tellOfQuestion(
  parts: TellDeps,
  run: RunRecord,
  ask: EventOf<'question-ask'> | EventOf<'permission-ask'>,
): Promise<void> {
  const job = run.links.jobId && (await parts.store.getJob(run.links.jobId))
  if (!job) return
  const what =
    ask.type === 'question-ask'
      ? ask.questions.map(({ question }) => visible(question)).join('\n')
      : `may it use ${describeCall(ask.tool, ask.input)}`
  const described = await describe(parts, job, (await parts.store.getRun(run.id)) ?? run)
  const payload = describeJobNotice({
    ...described,
    attention: 'question',
    message: null,
  })
  // Only the middle is cut, because the person who decides must see the end as well.
  const shown = parts.redactor.text(`the agent asks: ${what}`)
  const message = cutMiddle(shown, MAX_ASK_CHARS, `reprise runs show ${run.id}`)
  const subject = { kind: 'job', id: job.id } as const
  const notice = {
    event: 'attention',
    subject,
    occurrence: ask.toolUseId,
    payload: { ...payload, message },
  } as const
  await parts.store.enqueueNotifications(
    parts.notifications.plan(notice, job.options.webhook),
    parts.clock.now(),
  )
  parts.notifications.wake()
}

async function describe({ store, settings, clock }: TellDeps, job: JobRecord, run: RunRecord) {
  const runs = (await store.listRunsOfJobs([job.id])).map((known) => (known.id === run.id ? run : known))
  return describeJob({
    job,
    runs,
    session: run.sessionId === null ? null : await store.getSession(run.sessionId),
    pending: [],
    live: null,
    why: run.state.at === 'queued' ? run.state.why : null,
    spends: await store.listSpendOf(job.id),
    maxResumes: settings.resume.maxResumes,
    now: clock.now(),
  })
}
