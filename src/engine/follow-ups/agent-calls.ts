/**
 * What an agent asks of its own scheduling tools is done here in their place. The call itself is refused to the agent's
 * program, so that it keeps nothing; what the agent reads as the reason says that it is done, or why it is not. The same
 * call, asked again after a crash, gets the same answer.
 */
import type { EventBody, EventOf } from '../../contract/events.ts'
import { FollowUpId } from '../../contract/ids.ts'
import type { SchedulingCall } from '../../core/schedule/call.ts'
import { formatSpan } from '../../core/span.ts'
import type { AttemptRecord, RunRecord } from '../../store/base/records.ts'
import type { FollowUpRecord } from '../../store/watches/records.ts'
import { persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'
import { addFollowUp, rootOf } from './plan.ts'

export interface CallAnswer {
  message: string
  event: EventOf<'follow-up'> | EventOf<'refusal'>
  /** The run has a follow-up that it did not have before. */
  planned: boolean
}

interface Caller {
  run: RunRecord
  attempt: AttemptRecord
}

export async function answerSchedulingCall(
  parts: EngineParts,
  caller: Caller,
  ask: EventOf<'permission-ask'>,
  call: SchedulingCall,
): Promise<CallAnswer> {
  switch (call.kind) {
    case 'create':
      return create(parts, caller, ask, call)
    case 'list':
      return list(parts, caller, ask)
    case 'delete':
      return remove(parts, caller, ask, call.id)
    case 'unclear':
      return refused(ask, call.problem)
  }
}

const TAKEN = 'This is no error: Reprise keeps schedules itself, in place of this tool.'

async function create(
  parts: EngineParts,
  { run, attempt }: Caller,
  ask: EventOf<'permission-ask'>,
  { prompt, reason, when }: Extract<SchedulingCall, { kind: 'create' }>,
): Promise<CallAnswer> {
  const planned = await addFollowUp(parts, {
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
  parts.onPlanned()
  const message = [
    TAKEN,
    `${describe(followUp, parts.clock.now())}.`,
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
  parts: EngineParts,
  { run, attempt }: Caller,
  { toolUseId }: EventOf<'permission-ask'>,
): Promise<CallAnswer> {
  const planned = await parts.store.listPlannedFollowUps(await ownerOf(parts, { run, attempt }))
  const now = parts.clock.now()
  const lines = planned.map((f) => `- ${describe(f, now)}: ${JSON.stringify(f.prompt.slice(0, SHOWN_CHARS))}`)
  const message = `${TAKEN} ${lines.length > 0 ? `Planned:\n${lines.join('\n')}` : 'Nothing is planned.'}`
  return {
    message,
    planned: false,
    event: { type: 'follow-up', toolUseId, action: 'listed', message: `${planned.length} planned` },
  }
}

/** Only what this chain, or this session, has planned. */
async function remove(
  parts: EngineParts,
  { run, attempt }: Caller,
  ask: EventOf<'permission-ask'>,
  id: string,
): Promise<CallAnswer> {
  const { store, clock } = parts
  const of = await ownerOf(parts, { run, attempt })
  const found = FollowUpId.is(id) ? await store.getFollowUp(id) : null
  const own = found && isOf(found, of) ? found : null
  // Asked again, it has the same answer.
  const gone = own?.state === 'cancelled' && own.cancelledBy === 'agent'
  const done =
    own !== null &&
    (await persist(parts, () =>
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

/** The chain, or the session where there is no chain. */
async function ownerOf(parts: EngineParts, { run, attempt }: Caller): Promise<Owner> {
  return { rootRunId: await rootOf(parts, run), sessionId: attempt.sessionId }
}

const isOf = (followUp: FollowUpRecord, { rootRunId, sessionId }: Owner) =>
  rootRunId === null ? followUp.sessionId === sessionId : followUp.rootRunId === rootRunId

function refused({ toolUseId, tool, input }: EventOf<'permission-ask'>, reason: string): CallAnswer {
  const what =
    typeof input === 'object' && input !== null ? JSON.stringify(input).slice(0, 500) : String(input)
  const event: EventBody = { type: 'refusal', toolUseId, tool, what, rule: 'follow-up', reason }
  return { message: reason, planned: false, event }
}
