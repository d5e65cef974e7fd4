/**
 * Actions on services, so that cooldowns can be enforced. With a sandbox, the broker claims an action when the program is to be started.
 * Without one, the check of a tool call claims what the text of its command would do.
 */
import type { Kysely } from 'kysely'
import { ActionId, type AttemptId } from '../../contract/ids.ts'
import { type Action, type CooldownLimit, decideCooldown, sameScope } from '../../core/rules/cooldown.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from '../runs/attempt-records.ts'
import type { ActionRecord } from './records.ts'
import { toAction } from './rows.ts'

export interface ActionClaim {
  attempt: Pick<AttemptRecord, 'id' | 'runId'>
  /** The id of the tool call, or of the call of a program. A repeated request of the same call gets the same claim. */
  callId: string
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
  const { actions, limits, at } = claim
  if (actions.length === 0) return { granted: true }
  await lockKey(tx, 'actions')
  const taken = await listTaken(tx, limits, at)
  const open = withoutAnswered(actions, await listAnswered(tx, claim))
  const decision = decideCooldown(open, taken, limits, at)
  if (decision.kind === 'refuse') {
    const { kind: _, ...refusal } = decision
    return { granted: false, ...refusal }
  }
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

/** The actions that were granted to the same call before. */
async function listAnswered(tx: Tx, { attempt, callId }: ActionClaim): Promise<ActionRecord[]> {
  const rows = await tx
    .selectFrom('actions')
    .selectAll()
    .where('attempt_id', '=', attempt.id)
    .where('call_id', '=', callId)
    .execute()
  return rows.map(toAction)
}

function withoutAnswered(actions: readonly Action[], answered: readonly ActionRecord[]): Action[] {
  const left = [...answered]
  return actions.filter(({ rule, service, scope }) => {
    const index = left.findIndex(
      (one) => one.rule === rule && one.service === service && sameScope(one.scope, scope),
    )
    if (index !== -1) left.splice(index, 1)
    return index === -1
  })
}

async function insert(
  tx: Tx,
  actions: readonly Action[],
  { attempt, callId, at }: ActionClaim,
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
        call_id: callId,
        command,
        at: at.getTime(),
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
