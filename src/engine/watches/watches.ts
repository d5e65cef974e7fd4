/** Implements the public interface of watches. The timetable fires them. */
import type { AgentRegistry } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import { WatchId } from '../../contract/ids.ts'
import type { CreateWatch, UpdateWatch, Watch } from '../../contract/watch.ts'
import { WatchDefinition } from '../../contract/watch.ts'
import { checkWatch } from '../../core/watch/check.ts'
import type { Store } from '../../store/store.ts'
import type { WatchRecord } from '../../store/watches/records.ts'
import type { Notifications } from '../base/notifications.ts'
import { checkWorkDir } from '../base/work-dir.ts'
import { highestTier, type TierDeps } from '../tiers/tiers.ts'
import type { WatchEngine } from './api.ts'
import { type CycleDeps, type CycleHooks, createCycles, stopCycle } from './cycles.ts'
import { describeCycles, describeWatch } from './describe.ts'
import { requireWatch } from './require.ts'
import { firstDueOf, scheduleOf } from './schedule-of.ts'
import { createTriggers, type TriggerDeps, type TriggerHooks } from './triggers.ts'

export type WatchDeps = CycleDeps &
  TriggerDeps &
  TierDeps & {
    store: Pick<Store, 'listWatches' | 'addWatch' | 'updateWatch' | 'removeWatch' | 'listCycles'>
    agents: Pick<AgentRegistry, 'runtime'>
    notifications: Pick<Notifications, 'targets'>
    /** In [0, 1). */
    random: () => number
  }

export type WatchHooks = CycleHooks & TriggerHooks

export function createWatches(deps: WatchDeps, hooks: WatchHooks): WatchEngine {
  const { store, clock } = deps
  const { wake, onCycle } = hooks

  const describe = async (watch: WatchRecord): Promise<Watch> => {
    const [newest] = (await store.listCycles({ watchId: watch.id, limit: 1 })).items
    const open = (await store.listUnfinishedCycles(watch.id)).find((cycle) => cycle.state === 'open')
    // A skipped cycle says nothing about what is watched; the one that it was skipped for does.
    const instead =
      newest?.state === 'skipped'
        ? (open ?? (newest.takenBy && (await store.getCycle(newest.takenBy))))
        : null
    const last = instead ?? newest
    const [lastCycle = null] = await describeCycles(deps, () => watch.name, last ? [last] : [])
    return describeWatch(watch, { lastCycle, openCycleId: open?.id ?? null })
  }

  return {
    ...createTriggers(deps, hooks),
    ...createCycles(deps, hooks),

    createWatch: async ({ name, paused = false, ...request }) => {
      const definition = definitionOf(request)
      await checkDefinition(deps, definition)
      const now = clock.now()
      const watch = await store.addWatch({
        id: WatchId.create(now),
        name,
        source: 'api',
        definition,
        state: paused ? 'paused' : 'active',
        due: paused ? null : firstDueOf(deps, { definition }),
        memory: null,
        cycles: 0,
        createdAt: now,
        updatedAt: now,
      })
      wake()
      return describe(watch)
    },

    listWatches: async () => Promise.all((await store.listWatches()).map(describe)),
    getWatch: async (idOrName) => describe(await requireWatch(store, idOrName)),

    updateWatch: async (idOrName, { paused, ...change }) => {
      const watch = await requireWatch(store, idOrName)
      const changes = Object.values(change).some((value) => value !== undefined)
      if (changes && watch.source === 'config') {
        throw new RepriseError('conflict', `watch ${watch.name} is defined in the configuration`, {
          hint: 'Change it there and restart Reprise; here it can only be paused and resumed.',
        })
      }
      const definition = changes ? merged(watch.definition, change) : watch.definition
      if (changes) await checkDefinition(deps, definition)
      const state = paused === undefined ? watch.state : paused ? 'paused' : 'active'
      const schedule = scheduleOf({ definition })
      const rescheduled =
        state !== watch.state || JSON.stringify(schedule) !== JSON.stringify(scheduleOf(watch))
      const due = state === 'paused' ? null : firstDueOf(deps, { definition })
      const updated = await store.updateWatch(
        watch.id,
        // The due time is changed only if necessary: the watch may have fired meanwhile and must not fire again.
        { ...(changes ? { definition } : {}), state, ...(rescheduled ? { due } : {}) },
        clock.now(),
      )
      wake()
      return describe(updated ?? watch)
    },

    removeWatch: async (idOrName) => {
      const watch = await requireWatch(store, idOrName)
      if (watch.source === 'config') {
        throw new RepriseError('conflict', `watch ${watch.name} is defined in the configuration`, {
          hint: 'Remove it there and restart Reprise, or pause it.',
        })
      }
      await store.removeWatch(watch.id, clock.now())
      for (const cycle of await store.listUnfinishedCycles(watch.id))
        await stopCycle(deps, cycle, 'the watch was removed', onCycle)
    },

    readHookSecret: async (idOrName) => (await store.findWatch(idOrName))?.definition.hookSecret ?? null,
  }
}

async function checkDefinition(deps: WatchDeps, definition: WatchDefinition): Promise<void> {
  const around = { highestTier: highestTier(deps), notifyTargets: deps.notifications.targets }
  const [first] = checkWatch(definition, around)
  if (first) {
    const hint = first.hint ? { hint: first.hint } : {}
    throw new RepriseError('bad-request', `${first.key}: ${first.problem}`, hint)
  }
  if (definition.agent !== undefined) await deps.agents.runtime(definition.agent)
  await checkWorkDir(definition.workDir)
}

type Wish = Omit<CreateWatch, 'name' | 'paused'>

/** `every` was converted to milliseconds when the request was parsed. */
function definitionOf({ every, ...definition }: Wish): WatchDefinition {
  const everyMs = typeof every === 'number' ? every : definition.everyMs
  return WatchDefinition.parse({ ...definition, ...(everyMs === undefined ? {} : { everyMs }) })
}

const definedOnly = (change: object) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

/** A new schedule replaces the old one, even if it is of another kind; null removes a setting. */
function merged(before: WatchDefinition, { every, ...change }: Omit<UpdateWatch, 'paused'>): WatchDefinition {
  const everyMs = typeof every === 'number' ? every : change.everyMs
  const { everyMs: _, cron: __, timeZone: ___, ...rest } = before
  const reschedules = everyMs !== undefined || change.cron !== undefined
  const after = { ...(reschedules ? rest : before), ...definedOnly(change), ...definedOnly({ everyMs }) }
  return WatchDefinition.parse(
    Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null)),
  )
}
