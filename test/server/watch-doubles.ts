/** The part of the engine double that is about watches, cycles and follow-ups. */

import type { CycleDetail } from '../../src/contract/cycle.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { CycleId, FollowUpId, SessionId, WatchId } from '../../src/contract/ids.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import type { Triggered, Watch } from '../../src/contract/watch.ts'
import type { FollowUpEngine } from '../../src/engine/follow-ups/api.ts'
import type { WatchEngine } from '../../src/engine/watches/api.ts'

export interface WatchDoubles extends WatchEngine, FollowUpEngine {
  addWatch: (change?: Partial<Watch> & { hookSecret?: string }) => Watch
  addCycle: (change?: Partial<CycleDetail>) => CycleDetail
  addFollowUp: (change?: Partial<FollowUp>) => FollowUp
  /** What was asked of watches and follow-ups, besides looking. */
  askedOfWatches: { call: string; of?: string; with?: unknown }[]
  /** What the next trigger or event comes to. */
  answerTriggers: (answer: Triggered | RepriseError) => void
}

export function createWatchDoubles(): WatchDoubles {
  const watches = new Map<string, Watch>()
  const secrets = new Map<string, string>()
  const cycles = new Map<string, CycleDetail>()
  const followUps = new Map<string, FollowUp>()
  const asked: WatchDoubles['askedOfWatches'] = []
  let answer: Triggered | RepriseError = { result: 'started', cycleId: null, message: 'A cycle begins.' }

  const find = (ref: string): Watch => {
    const watch = watches.get(ref) ?? [...watches.values()].find(({ name }) => name === ref)
    if (!watch) throw new RepriseError('not-found', `there is no watch ${ref}`)
    return watch
  }
  const findCycle = (id: string): CycleDetail => {
    const cycle = cycles.get(id)
    if (!cycle) throw new RepriseError('not-found', `there is no cycle ${id}`)
    return cycle
  }
  const findFollowUp = (id: string): FollowUp => {
    const followUp = followUps.get(id)
    if (!followUp) throw new RepriseError('not-found', `there is no follow-up ${id}`)
    return followUp
  }
  const addWatch: WatchDoubles['addWatch'] = ({ hookSecret, ...change } = {}) => {
    const watch: Watch = { ...newWatch(), hasHookSecret: hookSecret !== undefined, ...change }
    watches.set(watch.id, watch)
    if (hookSecret !== undefined) secrets.set(watch.id, hookSecret)
    return watch
  }
  const addCycle: WatchDoubles['addCycle'] = (change = {}) => {
    const cycle = { ...newCycle(), ...change }
    cycles.set(cycle.id, cycle)
    return cycle
  }
  const addFollowUp: WatchDoubles['addFollowUp'] = (change = {}) => {
    const followUp = { ...newFollowUp(), ...change }
    followUps.set(followUp.id, followUp)
    return followUp
  }
  const take = (): Triggered => {
    if (answer instanceof RepriseError) throw answer
    return answer
  }
  const paged = <T>(items: T[], limit: number) => ({
    items: items.slice(0, limit),
    nextCursor: items.length > limit ? 'more' : null,
  })

  return {
    addWatch,
    addCycle,
    addFollowUp,
    askedOfWatches: asked,
    answerTriggers: (given) => {
      answer = given
    },
    createWatch: async (request) => {
      asked.push({ call: 'create', with: request })
      if ([...watches.values()].some(({ name }) => name === request.name)) {
        throw new RepriseError('conflict', `there is a watch ${request.name} already`)
      }
      const { every: _, paused, ...definition } = request
      return addWatch({ ...definition, state: paused ? 'paused' : 'active' } as Partial<Watch>)
    },
    listWatches: async () => [...watches.values()],
    getWatch: async (ref) => find(ref),
    updateWatch: async (ref, change) => {
      const watch = find(ref)
      asked.push({ call: 'update', of: watch.name, with: change })
      return addWatch({
        ...watch,
        ...(change.paused === undefined ? {} : { state: change.paused ? 'paused' : 'active' }),
      })
    },
    removeWatch: async (ref) => {
      watches.delete(find(ref).id)
    },
    triggerWatch: async (ref, request) => {
      asked.push({ call: 'trigger', of: find(ref).name, with: request })
      return take()
    },
    receiveEvents: async (ref, payload) => {
      asked.push({ call: 'receive', of: find(ref).name, with: payload })
      return take()
    },
    readHookSecret: async (ref) => secrets.get(find(ref).id) ?? null,
    listCycles: async (ref, { limit }) => {
      const { id } = find(ref)
      return paged(
        [...cycles.values()].reverse().filter(({ watchId }) => watchId === id),
        limit,
      )
    },
    getCycle: async (id) => findCycle(id),
    cancelCycle: async (id) => {
      if (findCycle(id).state === 'ended') throw new RepriseError('conflict', `cycle ${id} has ended already`)
      return addCycle({ ...findCycle(id), state: 'ended', outcome: 'cancelled' })
    },

    createFollowUp: async (request) => {
      asked.push({ call: 'follow-up', with: request })
      return addFollowUp({
        prompt: request.prompt,
        runId: request.runId ?? null,
        session: SessionId.is(request.sessionId ?? '') ? (request.sessionId as SessionId) : null,
        createdBy: 'person',
      })
    },
    listFollowUps: async ({ limit, state, runId, cycleId }) =>
      paged(
        [...followUps.values()].filter(
          (one) =>
            (state === undefined || one.state === state) &&
            (runId === undefined || one.runId === runId) &&
            (cycleId === undefined || one.cycleId === cycleId),
        ),
        limit,
      ),
    getFollowUp: async (id) => findFollowUp(id),
    cancelFollowUp: async (id) => {
      const followUp = findFollowUp(id)
      if (followUp.state !== 'planned')
        throw new RepriseError('conflict', `follow-up ${id} is ${followUp.state} already`)
      return addFollowUp({ ...followUp, state: 'cancelled', cancelledBy: 'person' })
    },
  }
}

function newWatch(): Watch {
  const now = new Date()
  const id = WatchId.create(now)
  return {
    id,
    name: `watch-${id.slice(-6).toLowerCase()}`,
    source: 'api',
    state: 'active',
    schedule: 'every 30 min',
    everyMs: 1_800_000,
    workDir: '/tmp',
    prompt: 'Look.',
    memory: 'fresh',
    overlap: 'skip',
    hasHookSecret: false,
    nextAt: null,
    session: null,
    openCycleId: null,
    lastCycle: null,
    cycles: 0,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  }
}

function newCycle(): CycleDetail {
  const now = new Date()
  return {
    id: CycleId.create(now),
    watchId: WatchId.create(now),
    watch: 'media',
    number: 1,
    state: 'running',
    trigger: 'schedule',
    message: null,
    outcome: null,
    status: null,
    summary: null,
    tier: null,
    rootRunId: null,
    sessionId: null,
    renewed: null,
    runs: 0,
    usage: NO_USAGE,
    costUsd: null,
    costEstimated: false,
    eventCount: 0,
    pendingFollowUps: 0,
    dueAt: now.toISOString(),
    startedAt: null,
    endedAt: null,
    deadlineAt: null,
    takenBy: null,
    prompt: 'Look.',
    events: [],
    chain: null,
    followUps: [],
  }
}

function newFollowUp(): FollowUp {
  const now = new Date()
  return {
    id: FollowUpId.create(now),
    state: 'planned',
    prompt: 'Look again.',
    reason: null,
    createdBy: 'agent',
    runId: null,
    session: null,
    cycleId: null,
    tier: null,
    cron: null,
    recurring: false,
    dueAt: new Date(now.getTime() + 600_000).toISOString(),
    expiresAt: null,
    firedCount: 0,
    firedAt: null,
    firedRunId: null,
    cancelledBy: null,
    message: null,
    createdAt: now.toISOString(),
    endedAt: null,
  }
}
