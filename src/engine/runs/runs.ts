/** Implements the public interface of runs. */
import type { RunId } from '../../contract/ids.ts'
import type { Run } from '../../contract/run.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { ProgressBus } from '../base/progress.ts'
import { type WhyQueuedDeps, whyQueued } from '../base/why-queued.ts'
import { describeFollowUp } from '../follow-ups/describe.ts'
import { type AdmitDeps, admitRun, newRun } from '../path/admit.ts'
import { describeAttempt, describeEvent, describeRun } from '../path/describe.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import { describeEscalation } from '../tiers/chain.ts'
import { firstTierRun, refuseTierOptions, type TierRunDeps } from '../tiers/tier-run.ts'
import type { RunEngine } from './api.ts'
import { type CancelDeps, type CancelHooks, cancelRun } from './cancel.ts'
import { alreadySettled, requireRun } from './require-run.ts'

export type RunDeps = AdmitDeps &
  TierRunDeps &
  CancelDeps &
  DescribeDeps & {
    store: DescribeStore &
      Pick<
        Store,
        | 'hastenRun'
        | 'answerQuestion'
        | 'getEscalation'
        | 'listAttempts'
        | 'listFollowUps'
        | 'listRuns'
        | 'countRuns'
        | 'listEvents'
      >
    bus: Pick<ProgressBus, 'subscribe'>
    live: Pick<LiveRuns, 'get'>
  }

type DescribeStore = Pick<Store, 'getSession' | 'listPending'>
type DescribeDeps = WhyQueuedDeps & { store: DescribeStore }

const LISTED_PROMPT_CHARS = 500
const MAX_FOLLOW_UPS = 1000

/** The public description of a run, including the reason why it waits. */
export async function describeWhole(deps: DescribeDeps, run: RunRecord): Promise<Run> {
  const { store } = deps
  const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
  const pending = run.state.at === 'running' ? await store.listPending(run.id) : []
  const described = describeRun(run, session, pending)
  return run.state.at === 'queued' ? { ...described, message: await whyQueued(deps, run) } : described
}

type Runs = Pick<
  RunEngine,
  | 'admit'
  | 'cancel'
  | 'continueRun'
  | 'answer'
  | 'getRun'
  | 'listRuns'
  | 'countRuns'
  | 'listEvents'
  | 'onProgress'
>

export function createRuns(deps: RunDeps, hooks: CancelHooks): Runs {
  const { store, clock, bus, live } = deps
  const describe = (run: RunRecord) => describeWhole(deps, run)
  const show = async (id: RunId) => describe(await requireRun(store, id))
  const requireOpen = async (id: RunId) => {
    const run = await requireRun(store, id)
    if (run.state.at === 'settled') throw alreadySettled(run)
  }

  return {
    admit: async (request, idempotencyKey, purpose) => {
      const { run, created } = await admitRun(deps, request, idempotencyKey, (asked, checked) => {
        if (asked.tier !== undefined) return firstTierRun(deps, asked, checked)
        refuseTierOptions(asked)
        const run = newRun(deps, asked, checked)
        return purpose ? { ...run, request: { ...run.request, purpose } } : run
      })
      hooks.wakeDispatcher()
      return { run: await describe(run), created }
    },

    cancel: async (id) => show((await cancelRun(deps, hooks, id)).id),

    continueRun: async (id) => {
      await requireOpen(id)
      await store.hastenRun(id, clock.now())
      bus.publish(id)
      hooks.wakeDispatcher()
      return show(id)
    },

    answer: async (id, answer) => {
      await requireOpen(id)
      const question = await store.answerQuestion(id, answer, 'person', clock.now())
      bus.publish(id)
      // The answer is stored. If the attempt is not supervised at the moment, the daemon that adopts it delivers the
      // answer.
      await live.get(id)?.deliverAnswer(question)
      return show(id)
    },

    getRun: async (id) => {
      const run = await requireRun(store, id)
      const escalation = run.links.tier === null ? null : await store.getEscalation(id)
      const followUps = await store.listFollowUps({ runId: id, limit: MAX_FOLLOW_UPS })
      return {
        ...(await describe(run)),
        attempts: (await store.listAttempts(id)).map(describeAttempt),
        escalation: escalation && describeEscalation(escalation),
        followUps: followUps.items.toReversed().map(describeFollowUp),
      }
    },

    listRuns: async ({ session, ...query }) => {
      const { items, nextCursor } = await store.listRuns({ ...query, sessionId: session })
      // Long prompts are shortened in lists, so that a page does not become huge. Reading the single run returns them
      // whole.
      const short = items.map((run) => ({ ...run, prompt: run.prompt.slice(0, LISTED_PROMPT_CHARS) }))
      return { items: await Promise.all(short.map(describe)), nextCursor }
    },
    countRuns: store.countRuns,

    listEvents: async (id, afterSeq, limit) => {
      const events = await store.listEvents(id, { afterSeq, limit })
      // If there are events, the run exists and need not be looked up.
      if (events.length === 0) await requireRun(store, id)
      return events.map(describeEvent)
    },
    onProgress: (id, listener) => bus.subscribe(id, listener),
  }
}
