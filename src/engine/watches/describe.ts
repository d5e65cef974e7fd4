/** Watches and cycles as the outside sees them. */
import type { Cycle, CycleState } from '../../contract/cycle.ts'
import type { Watch } from '../../contract/watch.ts'
import { describeSchedule, parseSchedule } from '../../core/schedule/schedule.ts'
import type { Store } from '../../store/store.ts'
import { type CycleTotals, NO_TOTALS } from '../../store/watches/cycle-totals.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'

export interface DescribeCyclesDeps {
  store: Pick<Store, 'readCycleTotals' | 'getRun' | 'getSession' | 'listPlannedFollowUps'>
}

export async function describeCycles(
  { store }: DescribeCyclesDeps,
  watchName: (id: CycleRecord['watchId']) => string,
  cycles: readonly CycleRecord[],
): Promise<Cycle[]> {
  const totals = await store.readCycleTotals(cycles.map(({ id }) => id))
  return Promise.all(
    cycles.map(async (cycle) => {
      const root = cycle.rootRunId && (await store.getRun(cycle.rootRunId))
      const session = root?.sessionId ? await store.getSession(root.sessionId) : null
      const pending =
        cycle.state === 'open' && cycle.rootRunId
          ? (await store.listPlannedFollowUps({ rootRunId: cycle.rootRunId, sessionId: null })).length
          : 0
      return describeCycle(cycle, {
        watch: watchName(cycle.watchId),
        totals: totals.get(cycle.id) ?? NO_TOTALS,
        agentSessionId: session?.agentSessionId ?? null,
        pending,
      })
    }),
  )
}

export interface CycleFacts {
  watch: string
  totals: CycleTotals
  agentSessionId: string | null
  pending: number
}

export function describeCycle(
  cycle: CycleRecord,
  { watch, totals, agentSessionId, pending }: CycleFacts,
): Cycle {
  return {
    id: cycle.id,
    watchId: cycle.watchId,
    watch,
    number: cycle.number,
    state: stateOf(cycle, totals),
    trigger: cycle.trigger,
    message: cycle.message ?? cycle.reason,
    outcome: cycle.state === 'ended' ? cycle.outcome : null,
    status: cycle.status as Cycle['status'],
    summary: cycle.summary,
    tier: totals.tier,
    rootRunId: cycle.rootRunId,
    sessionId: agentSessionId,
    renewed: cycle.renewed,
    runs: totals.runs,
    usage: totals.usage,
    costUsd: totals.costUsd,
    costEstimated: totals.estimated,
    eventCount: cycle.events.length,
    pendingFollowUps: pending,
    dueAt: cycle.dueAt.toISOString(),
    startedAt: cycle.startedAt?.toISOString() ?? null,
    endedAt: cycle.endedAt?.toISOString() ?? null,
    deadlineAt: cycle.deadlineAt?.toISOString() ?? null,
    takenBy: cycle.takenBy,
  }
}

const stateOf = ({ state }: CycleRecord, { open }: CycleTotals): CycleState =>
  state === 'open' ? (open > 0 ? 'running' : 'waiting') : state

export function describeWatch(
  watch: WatchRecord,
  { openCycleId, lastCycle }: Pick<Watch, 'openCycleId' | 'lastCycle'>,
): Watch {
  const { hookSecret, ...definition } = watch.definition
  const parsed = parseSchedule(definition)
  return {
    ...definition,
    id: watch.id,
    name: watch.name,
    source: watch.source,
    state: watch.state,
    schedule:
      parsed.ok && parsed.schedule
        ? describeSchedule(parsed.schedule, definition.everyWhileNotHealthyMs)
        : null,
    memory: definition.memory ?? 'fresh',
    overlap: definition.overlap ?? 'skip',
    hasHookSecret: hookSecret !== undefined,
    nextAt: watch.due?.fireAt.toISOString() ?? null,
    session: watch.memory?.sessionId ?? null,
    openCycleId,
    lastCycle,
    cycles: watch.cycles,
    createdAt: watch.createdAt.toISOString(),
    updatedAt: watch.updatedAt.toISOString(),
  }
}
