/**
 * Gives a due follow-up to its session as a run of its own: at the same tier and in the same chain, as a turn of the
 * same conversation, or as a plain run. The run is admitted in the transaction that fires the follow-up; from there on
 * it goes the one path.
 */

import { randomUUID } from 'node:crypto'
import { toRepriseError } from '../../contract/errors.ts'
import { MessageId, RunId } from '../../contract/ids.ts'
import { overBudget } from '../../core/job/budget.ts'
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import type { NewRun, RunRecord } from '../../store/base/records.ts'
import type { FiredAs } from '../../store/follow-ups/follow-ups.ts'
import type { FollowUpRecord } from '../../store/watches/records.ts'
import { payerOf, readAllowance } from '../accounting/allowance.ts'
import { persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'
import { followUpTierRun } from '../tiers/tier-run.ts'
import { againAfter } from './reconcile.ts'

/** False: it was not there any more to be fired. */
export async function fireFollowUp(parts: EngineParts, followUp: FollowUpRecord): Promise<boolean> {
  const { store, clock, log } = parts
  const now = clock.now()
  let as: FiredAs
  try {
    await checkBudget(parts, followUp)
    as = await asRun(parts, followUp, now)
  } catch (error) {
    const { message } = toRepriseError(error)
    log.warn({ followUp: followUp.id }, `a follow-up is missed: ${message}`)
    await persist(parts, () => store.endFollowUp(followUp.id, { state: 'missed', by: null, message }, now))
    return false
  }
  const fired = await persist(parts, () => store.fireFollowUp(followUp, as, againAfter(followUp, now), now))
  return fired !== null
}

/** What is used up is not spent again by a follow-up: it does not fire, and says why. */
async function checkBudget({ store }: EngineParts, { runId }: FollowUpRecord): Promise<void> {
  const before = runId === null ? null : await store.getRun(runId)
  const allowance = before && before.links.tier === null ? await readAllowance(store, before) : null
  const over = allowance && overBudget(allowance.budget, allowance.before)
  if (over) throw new Error(over)
}

async function asRun(parts: EngineParts, followUp: FollowUpRecord, now: Date): Promise<FiredAs> {
  const { store } = parts
  const prompt = composeFollowUpPrompt({ ...followUp, now })
  const before = followUp.runId === null ? null : await store.getRun(followUp.runId)
  if (before?.links.conversationId) {
    const { conversationId } = before.links
    if (!(await store.getConversation(conversationId))) throw new Error('its conversation has been deleted')
    const run = plainRun(parts, before, followUp, prompt, now)
    return { turn: { messageId: MessageId.create(now), conversationId, run: { ...run, sessionId: null } } }
  }
  if (before && before.links.tier !== null) {
    const run = followUpTierRun(parts, before, { id: followUp.id, prompt })
    return { run: { ...run, promptId: followUp.messageId } }
  }
  if (before) return { run: plainRun(parts, before, followUp, prompt, now) }
  const session = followUp.sessionId && (await store.getSession(followUp.sessionId))
  if (!session) throw new Error('its session is not known')
  const from = { agent: session.agent, model: null, workDir: session.workDir, sessionId: session.id }
  return { run: plainRun(parts, from, followUp, prompt, now) }
}

type From = Pick<RunRecord, 'agent' | 'model' | 'workDir' | 'sessionId'> &
  Partial<Pick<RunRecord, 'id' | 'links' | 'request'>>

function plainRun(
  { settings }: EngineParts,
  { id, links, agent, model, workDir, sessionId, request }: From,
  followUp: FollowUpRecord,
  prompt: string,
  now: Date,
): NewRun {
  return {
    id: RunId.create(now),
    idempotencyKey: null,
    agent,
    model,
    workDir,
    prompt,
    promptId: followUp.messageId || randomUUID(),
    request: {
      permissions: request?.permissions ?? settings.permissions,
      forceFreshSession: false,
      maxDurationMs: request?.maxDurationMs ?? null,
      maxResumes: request?.maxResumes ?? null,
      maxTurns: request?.maxTurns ?? null,
      turnsInAll: request?.turnsInAll,
      maxBudgetUsd: request?.maxBudgetUsd ?? null,
      ...(request?.dryRun || settings.dryRun ? { dryRun: true } : {}),
    },
    sessionId,
    followUpId: followUp.id,
    budgetOf: id && links ? payerOf({ id, links }) : null,
    createdAt: now,
  }
}
