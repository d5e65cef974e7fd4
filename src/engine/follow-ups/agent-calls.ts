/**
 * Handles the agent's calls of its own scheduling tools. The agent CLI is told that the call is refused, so that it
 * schedules nothing itself; the reason that the agent reads says that Reprise did it, or why not. If the same call is
 * made again after a crash, it gets the same answer.
 */
import type { EventBody, EventOf } from '../../contract/events.ts'
import { FollowUpId } from '../../contract/ids.ts'
import type { SchedulingCall } from '../../core/schedule/call.ts'
import { formatSpan } from '../../core/span.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { TakenOver } from '../base/next-prompts.ts'
import { addFollowUp, type PlanDeps, rootOf } from './plan.ts'

export type CallDeps = PlanDeps & {
  store: Pick<Store, 'getFollowUp' | 'endFollowUp'>
  /** An agent has planned a follow-up. */
  onPlanned: () => void
}

interface Caller {
  run: RunRecord
  attempt: AttemptRecord
}

export async function answerSchedulingCall(
  deps: CallDeps,
  caller: Caller,
  ask: EventOf<'permission-ask'>,
  call: SchedulingCall,
): Promise<TakenOver> {
  switch (call.kind) {
    case 'create':
      return create(deps, caller, ask, call)
    case 'list':
      return list(deps, caller, ask)
    case 'delete':
      return remove(deps, caller, ask, call.id)
    case 'unclear':
      return refused(ask, call.problem)
  }
}

const TAKEN = 'This is no error: Reprise keeps schedules itself, in place of this tool.'

async function create(
  deps: CallDeps,
  { run, attempt }: Caller,
  ask: EventOf<'permission-ask'>,
  { prompt, reason, when }: Extract<SchedulingCall, { kind: 'create' }>,
): Promise<TakenOver> {
  const planned = await addFollowUp(deps, {
    prompt,
    reason,
    createdBy: 'agent',
    wish: when,
    run,
    sessionId: attempt.sessionId,
    call: { attemptId: attempt.id, toolUseId: ask.toolUseId },
  })
  if (!planned.ok) return refused(ask, planned.reason)
  const { followUp } = planned
  deps.onPlanned()
  const message = [
    TAKEN,
    `${describe(followUp, deps.clock.now())}.`,
    'Its prompt will be given to you in this conversation then, also if this process has ended by that time.',
    'Do not wait for it: end your turn when there is nothing else to do.',
  ].join(' ')
  return {
    message,
    planned: true,
    event: {
      type: 'follow-up',
      toolUseId: ask.toolUseId,
      action: 'planned',
      followUpId: followUp.id,
      dueAt: followUp.dueAt.toISOString(),
      message: `follow-up ${followUp.id} is due at ${followUp.dueAt.toISOString()}`,
    },
  }
}

function describe({ id, dueAt, recurring, cron, expiresAt }: FollowUpRecord, now: Date): string {
  const rest = Math.max(0, dueAt.getTime() - now.getTime())
  const due = `${dueAt.toISOString()} (in ${formatSpan(rest)})`
  return recurring
    ? `Follow-up ${id} is planned: ${cron}, next at ${due}, until ${expiresAt?.toISOString() ?? 'it is deleted'}`
    : `Follow-up ${id} is planned for ${due}`
}

const SHOWN_CHARS = 200

async function list(
  deps: CallDeps,
  { run, attempt }: Caller,
  { toolUseId }: EventOf<'permission-ask'>,
): Promise<TakenOver> {
  const planned = await deps.store.listPlannedFollowUps(await ownerOf(deps, { run, attempt }))
  const now = deps.clock.now()
  const lines = planned.map((f) => `- ${describe(f, now)}: ${JSON.stringify(f.prompt.slice(0, SHOWN_CHARS))}`)
  const message = `${TAKEN} ${lines.length > 0 ? `Planned:\n${lines.join('\n')}` : 'Nothing is planned.'}`
  return {
    message,
    planned: false,
    event: { type: 'follow-up', toolUseId, action: 'listed', message: `${planned.length} planned` },
  }
}

/** Cancels a follow-up, if this chain or session planned it. */
async function remove(
  deps: CallDeps,
  { run, attempt }: Caller,
  ask: EventOf<'permission-ask'>,
  id: string,
): Promise<TakenOver> {
  const { store, clock, persist } = deps
  const of = await ownerOf(deps, { run, attempt })
  const found = FollowUpId.is(id) ? await store.getFollowUp(id) : null
  const own = found && isOf(found, of) ? found : null
  // A repeated call gets the same answer.
  const gone = own?.state === 'cancelled' && own.cancelledBy === 'agent'
  const done =
    own !== null &&
    (await persist(() =>
      store.endFollowUp(own.id, { state: 'cancelled', by: 'agent', message: null }, clock.now()),
    ))
  if (!done && !gone) return refused(ask, `There is no planned follow-up ${JSON.stringify(id.slice(0, 80))}.`)
  return {
    message: `${TAKEN} Follow-up ${id} is deleted.`,
    planned: false,
    event: {
      type: 'follow-up',
      toolUseId: ask.toolUseId,
      action: 'cancelled',
      followUpId: id,
      message: `follow-up ${id} is cancelled`,
    },
  }
}

type Owner = Pick<FollowUpRecord, 'rootRunId' | 'sessionId'>

/** The owner of planned follow-ups: the chain, or the session if there is no chain. */
async function ownerOf(deps: CallDeps, { run, attempt }: Caller): Promise<Owner> {
  return { rootRunId: await rootOf(deps, run), sessionId: attempt.sessionId }
}

const isOf = (followUp: FollowUpRecord, { rootRunId, sessionId }: Owner) =>
  rootRunId === null ? followUp.sessionId === sessionId : followUp.rootRunId === rootRunId

function refused({ toolUseId, tool, input }: EventOf<'permission-ask'>, reason: string): TakenOver {
  const what =
    typeof input === 'object' && input !== null ? JSON.stringify(input).slice(0, 500) : String(input)
  const event: EventBody = { type: 'refusal', toolUseId, tool, what, rule: 'follow-up', reason }
  return { message: reason, planned: false, event }
}
