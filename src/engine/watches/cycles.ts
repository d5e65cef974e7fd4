/** Cycles, as the outside asks for them. */

import type { Cycle } from '../../contract/cycle.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { CycleId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { CycleRecord } from '../../store/watches/records.ts'
import { describeFollowUp } from '../follow-ups/describe.ts'
import { type ChainDeps, readChain } from '../tiers/chain.ts'
import type { WatchEngine } from './api.ts'
import { type DescribeCyclesDeps, describeCycles } from './describe.ts'
import { type EndCycleDeps, endCycle } from './end.ts'
import { requireCycle, requireWatch } from './require.ts'

export type CycleDeps = EndCycleDeps &
  DescribeCyclesDeps &
  ChainDeps & {
    store: Pick<Store, 'findWatch' | 'getWatch' | 'getCycle' | 'concludeCycle' | 'listFollowUps'>
  }

export interface CycleHooks {
  /** Called when the state of the cycle may have changed. */
  onCycle: (id: CycleId) => void
  describeRun: Parameters<typeof readChain>[2]
}

const MAX_FOLLOW_UPS = 1000

/** Cancels a cycle. A queued cycle ends at once; an open cycle ends after its runs are cancelled. */
export async function stopCycle(
  deps: CycleDeps,
  cycle: CycleRecord,
  message: string,
  onCycle: (id: CycleId) => void,
): Promise<void> {
  const { store, clock, persist } = deps
  const watch = cycle.state === 'queued' ? await store.getWatch(cycle.watchId) : null
  if (watch && (await endCycle(deps, watch, cycle, { outcome: 'cancelled', message }))) return
  // The cycle is open, or was started just now.
  await persist(() => store.concludeCycle(cycle.id, 'cancelled', message, clock.now()))
  onCycle(cycle.id)
}

export function createCycles(
  deps: CycleDeps,
  { onCycle, describeRun }: CycleHooks,
): Pick<WatchEngine, 'listCycles' | 'getCycle' | 'cancelCycle'> {
  const { store } = deps
  const describeOne = async (cycle: CycleRecord): Promise<Cycle> => {
    const watch = await store.getWatch(cycle.watchId)
    const [described] = await describeCycles(deps, () => watch?.name ?? '', [cycle])
    if (!described) throw new Error(`cycle ${cycle.id} cannot be described`)
    return described
  }

  return {
    listCycles: async (idOrName, query) => {
      const watch = await requireWatch(store, idOrName)
      const { items, nextCursor } = await store.listCycles({ ...query, watchId: watch.id })
      return { items: await describeCycles(deps, () => watch.name, items), nextCursor }
    },

    getCycle: async (id) => {
      const cycle = await requireCycle(store, id)
      const { rootRunId } = cycle
      const followUps = rootRunId
        ? (await store.listFollowUps({ rootRunId, limit: MAX_FOLLOW_UPS })).items.toReversed()
        : []
      return {
        ...(await describeOne(cycle)),
        prompt: cycle.prompt ?? '',
        events: cycle.events,
        chain: rootRunId ? await readChain(deps, rootRunId, describeRun) : null,
        followUps: followUps.map(describeFollowUp),
      }
    },

    cancelCycle: async (id) => {
      const cycle = await requireCycle(store, id)
      if (cycle.state === 'ended' || cycle.state === 'skipped') {
        throw new RepriseError('conflict', `cycle ${id} has already ended`)
      }
      await stopCycle(deps, cycle, 'cancelled', onCycle)
      return describeOne(await requireCycle(store, id))
    },
  }
}
