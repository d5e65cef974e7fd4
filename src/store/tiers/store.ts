/** The store interface of tiers: escalations, chains, and actions with a cooldown. */
import type { Kysely } from 'kysely'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import type { RunRecord } from '../runs/records.ts'
import * as actions from './actions.ts'
import * as escalations from './escalations.ts'
import type { ActionRecord, EscalationRecord, TierEnding } from './records.ts'

export interface TierStore {
  getEscalation: (runId: RunId) => Promise<EscalationRecord | null>
  listEscalations: (runIds: readonly RunId[]) => Promise<EscalationRecord[]>
  /** Escalations that wait for a person, those expiring first come first. */
  listWaitingEscalations: (limit: number) => Promise<EscalationRecord[]>
  /** null: it does not wait any more. */
  answerEscalation: (
    runId: RunId,
    answer: escalations.Answer,
    then: Pick<TierEnding, 'next' | 'notices'>,
  ) => Promise<EscalationRecord | null>
  /** All runs linked to this one, root first. */
  listChain: (id: RunId) => Promise<RunRecord[]>
  claimActions: (claim: actions.ActionClaim) => Promise<actions.ClaimAnswer>
  listActions: (query: { since: Date; attemptId?: AttemptId | undefined }) => Promise<ActionRecord[]>
  deleteActions: (before: Date) => Promise<number>
}

export function createTierStore(reader: Kysely<Tables>, write: Write): TierStore {
  return {
    getEscalation: (runId) => escalations.getEscalation(reader, runId),
    listEscalations: (runIds) => escalations.listEscalations(reader, runIds),
    listWaitingEscalations: (limit) => escalations.listWaiting(reader, limit),
    answerEscalation: (runId, answer, then) =>
      write((tx) => escalations.answerEscalation(tx, runId, answer, then)),
    listChain: (id) => escalations.listChain(reader, id),
    claimActions: (claim) => write((tx) => actions.claimActions(tx, claim)),
    listActions: (query) => actions.listActions(reader, query),
    deleteActions: (before) => write((tx) => actions.deleteActions(tx, before)),
  }
}
