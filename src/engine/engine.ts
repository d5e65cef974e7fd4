/** Drives the one path: admits runs, dispatches them, recovers what a daemon before left open. */
import { RepriseError } from '../contract/errors.ts'
import type { RunId } from '../contract/ids.ts'
import type { Run } from '../contract/run.ts'
import type { SessionDetail } from '../contract/session.ts'
import { sayBehind } from '../core/obstacle/words.ts'
import { Dispatcher } from '../queue/dispatcher.ts'
import type { RunRecord, SessionRecord } from '../store/base/records.ts'
import type { Engine } from './api.ts'
import { hasRoom, StorageFailures } from './base/storage-failures.ts'
import { createConversations } from './conversations/conversations.ts'
import { endingOfTurn } from './conversations/ending.ts'
import { Cooldowns } from './enforce/cooldowns.ts'
import { createFollowUps } from './follow-ups/follow-ups.ts'
import { Checkpoints } from './jobs/checkpoints.ts'
import { createJobs } from './jobs/jobs.ts'
import { goOnIfAffordable } from './jobs/next-run.ts'
import { Obstacles } from './obstacles/obstacles.ts'
import type { EngineParts } from './parts.ts'
import { admitRun } from './path/admit.ts'
import { describeAttempt, describeEvent, describeRun, describeSession } from './path/describe.ts'
import { adoptAttempt, driveRun } from './path/drive.ts'
import { listQuarantined, quarantine } from './path/quarantine.ts'
import { sweepSpool } from './path/sweep.ts'
import { sweepArchive } from './sessions/archive.ts'
import { requireSession } from './sessions/require-session.ts'
import { LiveRuns } from './supervise/live-runs.ts'
import { Approvals } from './tiers/approvals.ts'
import { describeEscalation, readChain } from './tiers/chain.ts'
import { endingOfTier } from './tiers/ending.ts'
import { Timekeeping } from './timetable/timekeeping.ts'
import { Timetable } from './timetable/timetable.ts'
import { takeConfigured } from './watches/configured.ts'
import { describeFollowUp } from './watches/describe.ts'
import { createWatches } from './watches/watches.ts'

export interface RunningEngine extends Engine {
  /** Takes over what is open, then starts what is queued. */
  open: () => Promise<{ adopted: number }>
  /** Lets go of everything: agents go on by themselves until someone adopts them. */
  close: () => Promise<void>
}

const LISTED_PROMPT_CHARS = 500
const SWEEP_EVERY_MS = 3_600_000
const MAX_PAUSED = 1000
/** Longer than an event can be taken for known. */
const KEEP_EVENTS_MS = 31 * 86_400_000
const MAX_FOLLOW_UPS = 1000

export function createEngine(
  given: Omit<
    EngineParts,
    | 'closing'
    | 'storageFailures'
    | 'obstacles'
    | 'checkpoints'
    | 'cooldowns'
    | 'followClock'
    | 'onAsk'
    | 'onPlanned'
  >,
): RunningEngine {
  const closing = new AbortController()
  const storageFailures = new StorageFailures(given.clock, () => hasRoom(given.spool))
  const parts: EngineParts = {
    ...given,
    closing: closing.signal,
    storageFailures,
    obstacles: new Obstacles({ ...given, closing: closing.signal, storageFailures }, () => dispatcher.wake()),
    checkpoints: new Checkpoints(given),
    cooldowns: new Cooldowns(
      { ...given, closing: closing.signal, storageFailures },
      given.settings.escalation.rules,
    ),
    followClock: () => timekeeping.follow(),
    onAsk: () => approvals.wake(),
    onPlanned: () => timetable.notePlanned(),
  }
  const timekeeping = new Timekeeping(parts, ({ jumpMs }) => {
    parts.obstacles.followJump(jumpMs)
    dispatcher.wake()
    notifications.wake()
    approvals.wake()
    timetable.wake()
  })
  const approvals = new Approvals(parts, (run) => {
    dispatcher.wake()
    timetable.noteRun(run)
  })
  const timetable: Timetable = new Timetable(parts, {
    wakeDispatcher: () => dispatcher.wake(),
    cancelRun: (id) => cancel(id),
  })
  const { store, bus, clock, settings, notifications } = parts
  const live = new LiveRuns((id, waiting) => dispatcher.park(id, waiting))
  const driving = new Set<Promise<void>>()
  const track = (run: RunRecord, work: Promise<void>) => {
    driving.add(work)
    return work.finally(() => {
      driving.delete(work)
      timetable.noteRun(run)
    })
  }
  const dispatcher = new Dispatcher<RunRecord>({
    clock,
    limits: {
      concurrency: settings.concurrency,
      perAgent: settings.agentConcurrency,
      perPlace: settings.jobs.perWorkDir,
    },
    listStartable: store.listStartable,
    nextDueAt: store.nextDueAt,
    start: (run) => track(run, driveRun(parts, live, run)),
    onError: (error) => parts.log.error({ error: String(error) }, 'dispatch failed'),
  })
  const ages = { idleMs: settings.sessionIdleMs, maxAgeMs: settings.resume.maxAgeMs }

  const sweep = () => {
    const before = new Date(clock.now().getTime() - settings.jobs.keepCheckpointsMs)
    Promise.all([
      sweepSpool(parts),
      parts.obstacles.sweep(),
      notifications.sweep(),
      parts.checkpoints.sweep(before),
      parts.cooldowns.sweep(),
      store.forgetEvents(new Date(clock.now().getTime() - KEEP_EVENTS_MS)),
      sweepArchive(parts.archive, settings.jobs.keepArchiveMs, clock.now()),
    ]).catch((error) => parts.log.warn({ error: String(error) }, 'sweeping failed'))
  }
  const sweeping = setInterval(sweep, SWEEP_EVERY_MS)
  sweeping.unref()

  const requireRun = async (id: RunId): Promise<RunRecord> => {
    const run = await store.getRun(id)
    if (run) return run
    throw new RepriseError('not-found', `there is no run ${id}`, { hint: '`reprise runs` lists them.' })
  }
  const describe = async (run: RunRecord): Promise<Run> => {
    const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
    const described = describeRun(
      run,
      session,
      run.state.at === 'running' ? await store.listPending(run.id) : [],
    )
    if (run.state.at !== 'queued' || described.message !== null) return described
    const ahead = await store.findWaitingAhead(run.id)
    return ahead ? { ...described, message: sayBehind(ahead) } : described
  }
  const settled = (run: RunRecord) =>
    new RepriseError('run-settled', `run ${run.id} has ended already`, { details: { state: run.state } })

  /** Whoever cancels a run does not want what it has planned; of a chain, what any of its runs has. */
  const unplan = (run: RunRecord, root: RunRecord | undefined, at: Date): Promise<number> => {
    const end = { state: 'cancelled', by: 'person' } as const
    return root
      ? store.endFollowUpsOf(root.id, { ...end, message: 'its chain was cancelled' }, at)
      : store.endFollowUpsOfRun(run.id, { ...end, message: 'its run was cancelled' }, at)
  }

  const cancel = async (id: RunId): Promise<Run> => {
    const run = await requireRun(id)
    const at = clock.now()
    const outcome = { name: 'cancelled', message: 'cancelled' } as const
    const turn = await endingOfTurn(parts, { run, settled: outcome, took: null })
    const tier = await endingOfTier(parts, { run, settled: outcome, ending: null })
    const chain = run.links.tier === null ? [] : await store.listChain(id)
    const gone = await store.settleQueued(id, outcome, at, { turn, tier, notices: [] })
    const stops = gone || (await store.markCancelRequested(id, at))
    // From now on it can plan nothing more.
    const unplanned = await unplan(run, chain[0], at)
    if (!stops) {
      // What it led to is what is meant: the tier that works now, or the one that waits for a person.
      const heir = chain.find((one) => one.state.at !== 'settled')
      if (heir) return cancel(heir.id)
      const asking = (await store.listEscalations(chain.map((one) => one.id))).find(
        (e) => e.decision === 'ask',
      )
      if (!(asking && (await approvals.withdraw(asking.runId))) && unplanned === 0) throw settled(run)
      timetable.noteRun(run)
      return describe(await requireRun(id))
    }
    await live.get(id)?.stop('cancelled', 'cancelled')
    bus.publish(id)
    dispatcher.wake()
    timetable.noteRun(run)
    return describe(await requireRun(id))
  }

  return {
    ...createWatches(parts, { timetable, describeRun: describe }),
    ...createFollowUps(parts, { timetable, live, requireRun }),

    ...createConversations(parts, {
      describe,
      wake: () => dispatcher.wake(),
      stop: async (id) => {
        await live.get(id)?.stop('cancelled', 'cancelled')
        bus.publish(id)
      },
      endOutdated: async (id) => {
        await live.get(id)?.stop('question-edited', 'its question was edited')
        bus.publish(id)
      },
    }),

    ...createJobs(parts, {
      live,
      wake: () => dispatcher.wake(),
      cancelRun: cancel,
      occupy: (place, work) => dispatcher.occupy(place, work),
    }),

    open: async () => {
      await timekeeping.open()
      // Before anything can become due: what is not configured any more does not fire.
      await takeConfigured(parts, timetable)
      await quarantine(parts)
      await parts.obstacles.open()
      const left = await store.listOpenAttempts()
      for (const attempt of left) {
        const run = await store.getRun(attempt.runId)
        if (run) dispatcher.adopt(run, track(run, adoptAttempt(parts, live, run, attempt)))
      }
      for (const job of (await store.listJobs({ limit: MAX_PAUSED, state: 'paused' })).items) {
        await goOnIfAffordable(parts, job)
      }
      dispatcher.open()
      notifications.open()
      approvals.wake()
      timetable.wake()
      sweep()
      return { adopted: left.length }
    },

    close: async () => {
      clearInterval(sweeping)
      const quiet = [approvals.close(), timetable.close(), timekeeping.close()]
      await Promise.all([dispatcher.close(), notifications.close()])
      live.detachAll()
      closing.abort()
      await Promise.all(quiet)
      await Promise.allSettled(driving)
      await parts.cooldowns.close()
    },

    admit: async (request, idempotencyKey) => {
      const { run, created } = await admitRun(parts, request, idempotencyKey)
      dispatcher.wake()
      return { run: await describe(run), created }
    },

    cancel,

    continueRun: async (id) => {
      const run = await requireRun(id)
      if (run.state.at === 'settled') throw settled(run)
      await store.hastenRun(id, clock.now())
      bus.publish(id)
      dispatcher.wake()
      return describe(await requireRun(id))
    },

    answer: async (id, answer) => {
      const run = await requireRun(id)
      if (run.state.at === 'settled') throw settled(run)
      const question = await store.answerQuestion(id, answer, 'person', clock.now())
      bus.publish(id)
      // Stored is enough: if nobody supervises the attempt right now, whoever adopts it delivers the answer.
      await live.get(id)?.deliverAnswer(question)
      return describe(await requireRun(id))
    },

    getRun: async (id) => {
      const run = await requireRun(id)
      const escalation = run.links.tier === null ? null : await store.getEscalation(id)
      return {
        ...(await describe(run)),
        attempts: (await store.listAttempts(id)).map(describeAttempt),
        escalation: escalation && describeEscalation(escalation),
        followUps: (await store.listFollowUps({ runId: id, limit: MAX_FOLLOW_UPS })).items
          .toReversed()
          .map(describeFollowUp),
      }
    },
    listRuns: async (query) => {
      const { items, nextCursor } = await store.listRuns(query)
      // A page of long prompts must not be a gigabyte; the run itself has all of it.
      const short = items.map((run) => ({ ...run, prompt: run.prompt.slice(0, LISTED_PROMPT_CHARS) }))
      return { items: await Promise.all(short.map(describe)), nextCursor }
    },
    listQuarantined: () => listQuarantined(parts),
    countRuns: store.countRuns,
    findStorageFailure: () => {
      const { current } = storageFailures
      return current && { since: current.since.toISOString(), why: current.why }
    },
    describeObstacles: () => parts.obstacles.describe(),
    getChain: async (id) => {
      const chain = await readChain(parts, id, describe)
      if (chain) return chain
      await requireRun(id)
      throw new Error(`run ${id} is in no chain`)
    },
    listApprovals: async () => (await approvals.list()).map(describeEscalation),
    decideApproval: async (id, approval) => {
      await requireRun(id)
      return describeEscalation(await approvals.answer(id, approval))
    },

    listEvents: async (id, afterSeq, limit) => {
      const events = await store.listEvents(id, { afterSeq, limit })
      // What has events is there.
      if (events.length === 0) await requireRun(id)
      return events.map(describeEvent)
    },
    onProgress: (id, listener) => bus.subscribe(id, listener),

    listSessions: async (query) => {
      const { items, nextCursor } = await store.listSessions(query)
      return { items: items.map((session) => describeSession(session, ages, clock.now())), nextCursor }
    },
    getSession: async (id) => {
      const session = await requireSession(store, id)
      const transcript = await inspectTranscript(parts, session)
      const { items } = await store.listRuns({ limit: 200, sessionId: session.id })
      return {
        ...describeSession(session, ages, clock.now()),
        transcript,
        runIds: items.map((run) => run.id),
        heldBy: await store.findLeaseHolder(session.id),
      }
    },

    listAgents: () => parts.agents.describe(),
    readStats: store.readStats,
  }
}

async function inspectTranscript(
  { agents, store }: EngineParts,
  session: SessionRecord,
): Promise<SessionDetail['transcript']> {
  const configured = agents.find(session.agent)
  if (!configured) return { state: 'unknown', path: null, bytes: null }
  const { adapter, env } = configured
  const { state, path, bytes } = await adapter.inspectTranscript(session.agentSessionId, env, {
    workDir: session.workDir,
    answeredId: await store.findAnsweredPrompt(session),
  })
  return { state, path, bytes }
}
