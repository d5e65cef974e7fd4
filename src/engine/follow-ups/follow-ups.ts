/** Follow-ups, as people ask for them. */
import { RepriseError } from '../../contract/errors.ts'
import type { CreateFollowUp } from '../../contract/follow-up.ts'
import type { FollowUpId, SessionId } from '../../contract/ids.ts'
import type { FollowUpWish } from '../../core/schedule/follow-up.ts'
import type { RunRecord } from '../../store/base/records.ts'
import type { FollowUpRecord } from '../../store/watches/records.ts'
import { requestKey } from '../base/request-key.ts'
import type { EngineParts } from '../parts.ts'
import { requireSession } from '../sessions/require-session.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import type { Timetable } from '../timetable/timetable.ts'
import type { WatchEngine } from '../watches/api.ts'
import { describeFollowUp } from '../watches/describe.ts'
import { addFollowUp } from './plan.ts'

export interface FollowUpDeps {
  timetable: Timetable
  live: LiveRuns
  requireRun: (id: RunRecord['id']) => Promise<RunRecord>
}

const LISTED_CHARS = 500

export function createFollowUps(
  parts: EngineParts,
  { timetable, live, requireRun }: FollowUpDeps,
): Pick<WatchEngine, 'createFollowUp' | 'listFollowUps' | 'getFollowUp' | 'cancelFollowUp'> {
  const { store, clock } = parts
  const require = async (id: FollowUpId): Promise<FollowUpRecord> => {
    const followUp = await store.getFollowUp(id)
    if (followUp) return followUp
    throw new RepriseError('not-found', `there is no follow-up ${id}`, {
      hint: '`reprise followups` lists them.',
    })
  }
  /** What it waits for in its process may be another by now. */
  const nudge = (runId: RunRecord['id'] | null) => {
    if (runId !== null) live.get(runId)?.nudge()
  }

  return {
    createFollowUp: async (request, idempotencyKey) => {
      const key = requestKey(idempotencyKey, { followUp: request })
      const made = key && (await store.findMade(key))
      if (made !== null) return describeFollowUp(await require(made as FollowUpId))
      const run = request.runId ? await requireRun(request.runId) : null
      const sessionId = run ? run.sessionId : await requireFreeSession(parts, request.sessionId ?? '')
      if (sessionId === null) {
        throw new RepriseError('conflict', `run ${run?.id} has no session yet`, {
          hint: 'Try again when it has started.',
        })
      }
      const planned = await addFollowUp(parts, {
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
      nudge(run?.id ?? null)
      timetable.notePlanned()
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
        throw new RepriseError('conflict', `follow-up ${id} is ${state} already`)
      }
      nudge(followUp.runId)
      if (followUp.cycleId) timetable.noteCycle(followUp.cycleId)
      return describeFollowUp(await require(id))
    },
  }
}

async function requireFreeSession({ store }: EngineParts, named: string): Promise<SessionId> {
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
