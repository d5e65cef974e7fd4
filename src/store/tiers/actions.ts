/**
 * Actions on services, so that cooldowns can be enforced.
 *
 * With a sandbox, the broker claims an action when the program is to be started (`line: 'guard'`, with the id of the call). Without one,
 * the check of a tool call claims what the text of its command would do (`line: 'tool'`).
 *
 * A claim of a tool call can also be consumed by a later start of the same attempt. That was for attempts that had both checks, which
 * new ones do not: it matters only for attempts that an earlier version started.
 */
import type { Kysely } from 'kysely'
import { ActionId, type AttemptId } from '../../contract/ids.ts'
import {
  type Action,
  type CooldownLimit,
  decideCooldown,
  isRecent,
  sameScope,
} from '../../core/rules/cooldown.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from '../runs/attempt-records.ts'
import type { ActionRecord } from './records.ts'
import { toAction } from './rows.ts'

export interface ActionClaim {
  attempt: Pick<AttemptRecord, 'id' | 'runId'>
  line: ActionRecord['line']
  /** The id of the tool call. A repeated request of the same tool call gets the same claim. */
  toolUseId: string | null
  /** The id of the broker's call. A repeated question is about the same start. */
  guardId?: string
  /** For the broker: the tool calls in progress, if they are known. One of them may have claimed what starts now. */
  underWay?: readonly string[]
  actions: readonly Action[]
  limits: readonly CooldownLimit[]
  at: Date
}

export type ClaimAnswer =
  | { granted: true }
  | {
      granted: false
      /** Shown to the agent. */
      reason: string
      rule: string
      service: string
      used: number
      freeAt: Date | null
    }

/** Claims all of the actions, or none. */
export async function claimActions(tx: Tx, claim: ActionClaim): Promise<ClaimAnswer> {
  const { actions, limits, at, line } = claim
  if (actions.length === 0) return { granted: true }
  await lockKey(tx, 'actions')
  const taken = await listTaken(tx, limits, at)
  const answered = await listAnswered(tx, claim)
  const { rest: open } = pair(actions, answered)
  const { met, rest } = line === 'tool' ? { met: [], rest: open } : pair(open, claimsInReach(taken, claim))
  const decision = decideCooldown(rest, taken, limits, at)
  if (decision.kind === 'refuse') {
    const { kind: _, ...refusal } = decision
    return { granted: false, ...refusal }
  }
  await markStarted(tx, met, claim)
  await insert(tx, decision.claims, claim)
  return { granted: true }
}

async function listTaken(tx: Tx, limits: readonly CooldownLimit[], at: Date): Promise<ActionRecord[]> {
  const longest = Math.max(0, ...limits.map(({ perMs }) => perMs))
  const rows = await tx
    .selectFrom('actions')
    .selectAll()
    .where(
      'rule',
      'in',
      limits.map(({ name }) => name),
    )
    .where('at', '>', at.getTime() - longest)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map(toAction)
}

/** The actions that were granted to the same request before. */
async function listAnswered(tx: Tx, { attempt, toolUseId, guardId }: ActionClaim): Promise<ActionRecord[]> {
  const [column, id] =
    guardId === undefined ? (['tool_use_id', toolUseId] as const) : (['guard_id', guardId] as const)
  if (id === null) return []
  const rows = await tx
    .selectFrom('actions')
    .selectAll()
    .where('attempt_id', '=', attempt.id)
    .where(column, '=', id)
    .execute()
  return rows.map(toAction)
}

/** Claims that a start of this attempt may consume, oldest first. */
function claimsInReach(
  taken: readonly ActionRecord[],
  { attempt, underWay, limits, at }: ActionClaim,
): ActionRecord[] {
  return taken.filter((one) => {
    const limit = limits.find(({ name }) => name === one.rule)
    return (
      one.attemptId === attempt.id &&
      one.line === 'tool' &&
      one.startedAt === null &&
      limit !== undefined &&
      isRecent(one, limit, at) &&
      (underWay === undefined || one.toolUseId === null || underWay.includes(one.toolUseId))
    )
  })
}

/** Pairs each action with an earlier claim, if there is one. */
function pair(actions: readonly Action[], earlier: readonly ActionRecord[]) {
  const met: ActionRecord[] = []
  const rest = actions.filter(({ rule, service, scope }) => {
    const claimed = earlier.find(
      (one) =>
        !met.includes(one) && one.rule === rule && one.service === service && sameScope(one.scope, scope),
    )
    if (claimed) met.push(claimed)
    return !claimed
  })
  return { met, rest }
}

async function markStarted(
  tx: Tx,
  claims: readonly ActionRecord[],
  { at, guardId }: ActionClaim,
): Promise<void> {
  if (claims.length === 0) return
  await tx
    .updateTable('actions')
    // The cooldown counts from the real start.
    .set({ started_at: at.getTime(), at: at.getTime(), guard_id: guardId ?? null })
    .where(
      'id',
      'in',
      claims.map(({ id }) => id),
    )
    .where('started_at', 'is', null)
    .execute()
}

async function insert(
  tx: Tx,
  actions: readonly Action[],
  { attempt, line, toolUseId, guardId, at }: ActionClaim,
): Promise<void> {
  if (actions.length === 0) return
  await tx
    .insertInto('actions')
    .values(
      actions.map(({ rule, service, scope, command }) => ({
        id: ActionId.create(at),
        rule,
        service,
        scope,
        run_id: attempt.runId,
        attempt_id: attempt.id,
        tool_use_id: toolUseId,
        guard_id: guardId ?? null,
        command,
        line,
        at: at.getTime(),
        started_at: line === 'guard' ? at.getTime() : null,
      })),
    )
    .execute()
}

/** Actions later than `since`, oldest first. */
export async function listActions(
  db: Kysely<Tables>,
  { since, attemptId }: { since: Date; attemptId?: AttemptId | undefined },
): Promise<ActionRecord[]> {
  const rows = await db
    .selectFrom('actions')
    .selectAll()
    .where('at', '>', since.getTime())
    .$if(attemptId !== undefined, (query) => query.where('attempt_id', '=', attemptId as AttemptId))
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map(toAction)
}

/** Deletes older actions. Returns how many. */
export async function deleteActions(tx: Tx, before: Date): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('actions')
    .where('at', '<', before.getTime())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
