/**
 * Ids are prefixed, sortable by creation time, and parsed where they enter the system: `RunId.parse('job_1')`
 * says which prefix it expected. The brand keeps a run's id from being passed where an attempt's is meant.
 *
 * Invariant: each id is greater than all that were created before it, also when the clock is set back. Within a process
 * the generator ensures that; a store that is opened calls `createIdsAfter` with its newest id.
 */
import { decodeTime, monotonicFactory } from 'ulid'
import { z } from 'zod'

const BODY = /^[0-9A-HJKMNP-TV-Z]{26}$/
const nextUlid = monotonicFactory()

/** From now on all new ids sort after this one, of whatever kind it is. */
export function createIdsAfter(id: string): void {
  const body = id.slice(id.indexOf('_') + 1)
  // A time that begins with 7 or more has no successor or is not valid.
  if (BODY.test(body) && body < '7') nextUlid(decodeTime(body) + 1)
}

export type Id<Prefix extends string> = `${Prefix}_${string}`

function idKind<Prefix extends string>(prefix: Prefix, noun: string) {
  const fits = (text: string): text is Id<Prefix> =>
    text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1))
  const schema = z
    .string()
    .refine(fits, { error: `expected ${noun} id like ${prefix}_01J…` })
    .meta({ pattern: `^${prefix}_${BODY.source.slice(1)}` }) as unknown as z.ZodType<Id<Prefix>, string>
  return {
    prefix,
    schema,
    is: fits,
    create: (at: Date): Id<Prefix> => `${prefix}_${nextUlid(at.getTime())}`,
  }
}

export const RunId = idKind('run', 'a run')
export const AttemptId = idKind('att', 'an attempt')
export const SessionId = idKind('ses', 'a session')

/** Another kind of id of Reprise is a mistake, and the error says so. */
const OWN_ID = /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/
const AGENT_ID = /^[A-Za-z0-9][\w.:-]{0,127}$/
/** A session by Reprise's id or by the agent's own: a run has both, as `session` and as `sessionId`. */
export const SessionRef = z
  .string()
  .refine((id) => SessionId.is(id) || (AGENT_ID.test(id) && !OWN_ID.test(id)), {
    error: "expected a session id like ses_01J…, or the agent's own id of the session",
  })

export const ConversationId = idKind('cnv', 'a conversation')
export const MessageId = idKind('msg', 'a message')
export const JobId = idKind('job', 'a job')
export const NotificationId = idKind('ntf', 'a notification')
export const ActionId = idKind('act', 'an action')
export const WatchId = idKind('wch', 'a watch')
export const CycleId = idKind('cyc', 'a cycle')
export const FollowUpId = idKind('fup', 'a follow-up')
export const ProcessId = idKind('prc', 'a process')
export const MachineId = idKind('mch', 'a machine')
export const TokenId = idKind('tok', 'a token')

export type RunId = Id<'run'>
export type AttemptId = Id<'att'>
export type SessionId = Id<'ses'>
export type ConversationId = Id<'cnv'>
export type MessageId = Id<'msg'>
export type JobId = Id<'job'>
export type NotificationId = Id<'ntf'>
export type ActionId = Id<'act'>
export type WatchId = Id<'wch'>
export type CycleId = Id<'cyc'>
export type FollowUpId = Id<'fup'>
export type ProcessId = Id<'prc'>
export type MachineId = Id<'mch'>
export type TokenId = Id<'tok'>
