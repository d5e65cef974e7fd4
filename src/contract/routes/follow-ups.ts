import { CreateFollowUp, FollowUp, FollowUpState } from '../follow-up.ts'
import { page } from '../http.ts'
import { CycleId, RunId } from '../ids.ts'
import { FollowUpPath, IdempotencyHeaders, PageQuery } from './parameters.ts'
import { type FeatureRoutes, json } from './route.ts'

export const followUpRoutes = {
  createFollowUp: {
    tag: 'follow-ups',
    summary: 'Plans a prompt that a session is given later',
    description: "The session is a run's (`runId`) or named itself (`sessionId`).",
    headers: IdempotencyHeaders,
    body: CreateFollowUp,
    responses: {
      201: json('The follow-up is planned, now or since this Idempotency-Key was first used', FollowUp),
    },
    errors: ['not-found', 'conflict', 'session-unusable'],
  },
  listFollowUps: {
    tag: 'follow-ups',
    summary: 'Lists follow-ups of agents and people: planned, fired, missed, cancelled',
    query: PageQuery.extend({
      state: FollowUpState.optional(),
      runId: RunId.schema.optional(),
      cycleId: CycleId.schema.optional(),
    }),
    responses: { 200: json('One page', page(FollowUp)) },
  },
  getFollowUp: {
    tag: 'follow-ups',
    summary: 'Returns one follow-up',
    params: FollowUpPath,
    responses: { 200: json('The follow-up', FollowUp) },
    errors: ['not-found'],
  },
  cancelFollowUp: {
    tag: 'follow-ups',
    summary: 'Cancels a follow-up that is planned; it stays as a record',
    params: FollowUpPath,
    responses: { 200: json('The follow-up; it will not fire', FollowUp) },
    errors: ['not-found', 'conflict'],
  },
} satisfies FeatureRoutes
