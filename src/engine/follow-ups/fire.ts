/**
 * Sends a due follow-up to its session as a run of its own: at the same tier and in the same chain, as a turn of the
 * same conversation, or as a plain run. The run is admitted in the transaction that fires the follow-up; after that it
 * takes the same path as every run.
 */

import type { PermissionMode } from '../../contract/create-run.ts'
import { toRepriseError } from '../../contract/errors.ts'
import type { Clock } from '../../core/clock.ts'
import { overBudget } from '../../core/job/budget.ts'
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import type { FiredAs } from '../../store/follow-ups/follow-ups.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { Purposes } from '../base/purposes.ts'
import { buildRun } from '../path/build-run.ts'
import { againAfter } from './reconcile.ts'

export interface FireDeps {
  store: Pick<Store, 'getRun' | 'getSession' | 'endFollowUp' | 'fireFollowUp'>
  purposes: Pick<Purposes, 'of'>
  clock: Clock
  log: Log
  persist: Persist
  settings: { permissions: PermissionMode; dryRun: boolean }
}

/** Returns false if the follow-up was missed or is not planned any more. */
export async function fireFollowUp(deps: FireDeps, followUp: FollowUpRecord): Promise<boolean> {
  const { store, clock, log, persist } = deps
  const now = clock.now()
  let as: FiredAs
  try {
    as = await asRun(deps, followUp, now)
  } catch (error) {
    const { message } = toRepriseError(error)
    log.warn({ followUp: followUp.id }, `follow-up missed: ${message}`)
    await persist(() => store.endFollowUp(followUp.id, { state: 'missed', by: null, message }, now))
    return false
  }
  const fired = await persist(() => store.fireFollowUp(followUp, as, againAfter(followUp, now), now))
  return fired !== null
}

async function asRun(deps: FireDeps, followUp: FollowUpRecord, now: Date): Promise<FiredAs> {
  const { store, purposes } = deps
  const prompt = composeFollowUpPrompt({ ...followUp, now })
  const before = followUp.runId === null ? null : await store.getRun(followUp.runId)
  if (before === null) return { run: await inSession(deps, followUp, prompt, now) }
  const purpose = purposes.of(before)
  // If the budget is used up, the follow-up is not fired, and its message says why. A run at a tier is admitted anyway,
  // because its budget is computed when it starts.
  const allowance = purpose.rulesOf(before) === null ? await purpose.readAllowance(before) : null
  const over = allowance && overBudget(allowance.budget, allowance.before)
  if (over) throw new Error(over)
  return purpose.laterRun(before, {
    followUpId: followUp.id,
    prompt,
    promptId: followUp.messageId,
    at: now,
  })
}

/** A follow-up that a person planned by naming a session, not a run. */
async function inSession(
  { store, settings }: FireDeps,
  { id, sessionId, messageId }: FollowUpRecord,
  prompt: string,
  now: Date,
) {
  const session = sessionId && (await store.getSession(sessionId))
  if (!session) throw new Error('its session is not known')
  const { agent, workDir } = session
  return buildRun({
    agent,
    model: null,
    workDir,
    prompt,
    promptId: messageId,
    request: { permissions: settings.permissions, ...(settings.dryRun ? { dryRun: true } : {}) },
    sessionId: session.id,
    followUpId: id,
    createdAt: now,
  })
}
