/** Implements the public interface of follow-ups. */
import { RepriseError } from '../../contract/errors.ts'
import type { CreateFollowUp } from '../../contract/follow-up.ts'
import type { CycleId, FollowUpId, RunId, SessionId } from '../../contract/ids.ts'
import type { FollowUpWish } from '../../core/schedule/follow-up.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { requestKey } from '../base/request-key.ts'
import { requireSession } from '../sessions/require-session.ts'
import type { FollowUpEngine } from './api.ts'
import { describeFollowUp } from './describe.ts'
import { addFollowUp, type PlanDeps } from './plan.ts'

export type FollowUpDeps = PlanDeps & {
  store: Pick<
    Store,
    | 'getFollowUp'
    | 'listFollowUps'
    | 'endFollowUp'
    | 'findMade'
    | 'getCycle'
    | 'getSession'
    | 'findSession'
    | 'findConversationOf'
  >
}

export interface FollowUpHooks {
  /** Called when a follow-up was planned. */
  onPlanned: () => void
  /** Called when a follow-up of the cycle was cancelled. */
  onCycle: (id: CycleId) => void
  /** Called when the follow-up that the process of this run waits for may have changed. */
  nudge: (id: RunId) => void
  requireRun: (id: RunId) => Promise<RunRecord>
}

const LISTED_CHARS = 500

export function createFollowUps(
  deps: FollowUpDeps,
  { onPlanned, onCycle, nudge, requireRun }: FollowUpHooks,
): FollowUpEngine {
  const { store, clock } = deps
  const require = async (id: FollowUpId): Promise<FollowUpRecord> => {
    const followUp = await store.getFollowUp(id)
    if (followUp) return followUp
    throw new RepriseError('not-found', `there is no follow-up ${id}`, {
      hint: '`reprise followups` lists them.',
    })
  }

  return {
    createFollowUp: async (request, idempotencyKey) => {
      const key = requestKey(idempotencyKey, { followUp: request })
      const made = key && (await store.findMade(key))
      if (made !== null) return describeFollowUp(await require(made as FollowUpId))
      const run = request.runId ? await requireRun(request.runId) : null
      const sessionId = run ? run.sessionId : await requireFreeSession(deps, request.sessionId ?? '')
      if (sessionId === null) {
        throw new RepriseError('conflict', `run ${run?.id} has no session yet`, {
          hint: 'Try again when it has started.',
        })
      }
      const planned = await addFollowUp(deps, {
        prompt: request.prompt,
        reason: null,
        createdBy: 'person',
        wish: wishOf(request),
        run,
        sessionId,
        call: null,
        key,
      })
      if (!planned.ok) throw new RepriseError('bad-request', planned.reason)
      if (run) nudge(run.id)
      onPlanned()
      return describeFollowUp(planned.followUp)
    },

    listFollowUps: async ({ cycleId, ...query }) => {
      const cycle = cycleId && (await store.getCycle(cycleId))
      if (cycleId && !cycle?.rootRunId) return { items: [], nextCursor: null }
      const rootRunId = cycle?.rootRunId ?? undefined
      const { items, nextCursor } = await store.listFollowUps({ ...query, rootRunId })
      const short = items.map((followUp) => ({ ...followUp, prompt: followUp.prompt.slice(0, LISTED_CHARS) }))
      return { items: short.map(describeFollowUp), nextCursor }
    },

    getFollowUp: async (id) => describeFollowUp(await require(id)),

    cancelFollowUp: async (id) => {
      const followUp = await require(id)
      const end = { state: 'cancelled', by: 'person', message: null } as const
      if (!(await store.endFollowUp(id, end, clock.now()))) {
        const { state } = await require(id)
        throw new RepriseError('conflict', `follow-up ${id} is already ${state}`)
      }
      if (followUp.runId) nudge(followUp.runId)
      if (followUp.cycleId) onCycle(followUp.cycleId)
      return describeFollowUp(await require(id))
    },
  }
}

async function requireFreeSession({ store }: FollowUpDeps, named: string): Promise<SessionId> {
  const { id } = await requireSession(store, named)
  const conversation = await store.findConversationOf(id)
  if (conversation) {
    throw new RepriseError('conflict', `session ${id} belongs to the conversation ${conversation}`, {
      hint: 'Name a run of that conversation instead.',
    })
  }
  return id
}

function wishOf({ at, inMs, cron, recurring, timeZone }: CreateFollowUp): FollowUpWish {
  if (at !== undefined) return { at: new Date(at) }
  if (inMs !== undefined) return { inMs }
  return { cron: cron ?? '', recurring: recurring ?? false, timeZone }
}
