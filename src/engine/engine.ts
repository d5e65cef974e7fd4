/** Assembles the engine: the path and its purposes, the dispatcher, the timetable, and the public interface. */
import type { StopCause } from '../agents/adapter.ts'
import type { RunId } from '../contract/ids.ts'
import { Dispatcher } from '../queue/dispatcher.ts'
import type { RunRecord } from '../store/runs/records.ts'
import { createAdoption } from './adopt/adopt.ts'
import { DiskSpace } from './base/disk-space.ts'
import { createPersist } from './base/persist.ts'
import { StorageFailures } from './base/storage-failures.ts'
import { createConversations } from './conversations/conversations.ts'
import { Cooldowns } from './enforce/cooldowns.ts'
import { describeSandbox } from './enforce/describe-sandbox.ts'
import { Enforcement } from './enforce/enforcement.ts'
import type { EngineInput, RunningEngine } from './engine-input.ts'
import { describeFollowUp } from './follow-ups/describe.ts'
import { DueFollowUps } from './follow-ups/due.ts'
import { createFollowUps } from './follow-ups/follow-ups.ts'
import { createNextPrompts } from './follow-ups/next-prompts.ts'
import { Checkpoints } from './jobs/checkpoints.ts'
import { createJobs } from './jobs/jobs.ts'
import { continueIfAffordable } from './jobs/next-run.ts'
import { KeptProcesses } from './kept/kept.ts'
import { createMessages, withMessages } from './messages/messages.ts'
import { importArchive } from './mirror/import-archive.ts'
import { Mirror } from './mirror/mirror.ts'
import { Obstacles } from './obstacles/obstacles.ts'
import { readOverview } from './overview/overview.ts'
import { planTurn } from './overview/plan-turn.ts'
import { adoptAttempt } from './path/adopt.ts'
import { driveRun } from './path/drive.ts'
import { listQuarantined, quarantine } from './path/quarantine.ts'
import { createPurposes } from './purposes.ts'
import { createQueries } from './queries/queries.ts'
import { createReferences } from './references/references.ts'
import { Keeping } from './retention/keeping.ts'
import { endAll } from './runs/end-all.ts'
import { requireRun } from './runs/require-run.ts'
import { createRuns, describeWhole } from './runs/runs.ts'
import { startCleanUp } from './sessions/clean-up.ts'
import { createSessions } from './sessions/sessions.ts'
import { LiveRuns } from './supervise/live-runs.ts'
import { Approvals } from './tiers/approvals.ts'
import { describeEscalation, readChain } from './tiers/chain.ts'
import { Timekeeping } from './timetable/timekeeping.ts'
import { Timetable } from './timetable/timetable.ts'
import { createTransfers } from './transfer/api.ts'
import { recoverPlacements } from './transfer/placements.ts'
import { Trust } from './trust/trust.ts'
import { freeConversationsFirst, freeSessionsFirst } from './warm/free-first.ts'
import { Warming } from './warm/warm.ts'
import { takeConfigured } from './watches/configured.ts'
import { DueWatches } from './watches/due.ts'
import { createEventMessages } from './watches/event-messages.ts'
import { readOwnersNotices } from './watches/owners-notices.ts'
import { createWatches } from './watches/watches.ts'

const MAX_PAUSED = 1000

export function createEngine({ purposes: further, ...given }: EngineInput): RunningEngine {
  const { store, clock, settings, notifications, log, bus } = given
  const closing = new AbortController()
  const disk = new DiskSpace({ ...given, minFreeBytes: settings.minFreeBytes })
  const storageFailures = new StorageFailures(clock, () => disk.full === null)
  const persist = createPersist({ log, closing: closing.signal, storageFailures })
  const wakeDispatcher = () => dispatcher.wake()
  const base = {
    ...given,
    persist,
    storageFailures,
    disk,
    temporaryErrors: new Map<string, number>(),
    closing: closing.signal,
    obstacles: new Obstacles({ ...given, closing: closing.signal, storageFailures }, wakeDispatcher),
    checkpoints: new Checkpoints(given),
    trust: new Trust(given),
    mirrors: new Mirror(given),
    cooldowns: new Cooldowns(
      { ...given, closing: closing.signal, storageFailures },
      settings.escalation.rules,
    ),
    live: new LiveRuns((id, waiting) => dispatcher.park(id, waiting)),
    followClock: () => timekeeping.follow(),
    onAsk: () => approvals.wake(),
    onPlanned: () => dueFollowUps.notePlanned(),
    readOwnersNotices: (...asked: [RunRecord, Parameters<typeof readOwnersNotices>[2]]) =>
      readOwnersNotices(given, ...asked),
  }
  const nextPrompts = withMessages(
    base,
    createNextPrompts({ ...base, purposes: { of: (run) => purposes.of(run) } }),
    [createEventMessages(base)],
  )
  const purposes = createPurposes({ ...base, nextPrompts }, further)
  const enforcement = new Enforcement({ ...base, purposes })
  const approvals: Approvals = new Approvals(base, (run) => {
    wakeDispatcher()
    noteRun(run)
  })
  const deps = { ...base, nextPrompts, purposes, enforcement, approvals, kept: new KeptProcesses(base) }

  const keeping = new Keeping(deps)
  const noteRun = (run: RunRecord) => {
    keeping.noteRun()
    void messages.noteRun(run.id)
    dueWatches.noteRun(run)
    dueFollowUps.noteRun()
  }
  const runs = createRuns(deps, { wakeDispatcher, onRun: noteRun })
  const wakeTimetable = () => timetable.wake()
  const dueWatches = new DueWatches(deps, { wake: wakeTimetable, wakeDispatcher, cancelRun: runs.cancel })
  const onCycle: DueWatches['noteCycle'] = (id) => dueWatches.noteCycle(id)
  const dueFollowUps = new DueFollowUps(deps, { wake: wakeTimetable, wakeDispatcher, onCycle })
  const timetable: Timetable = new Timetable(base, [dueWatches, dueFollowUps])
  const timekeeping: Timekeeping = new Timekeeping(base, ({ jumpMs }) => {
    base.obstacles.followJump(jumpMs)
    dispatcher.wake()
    notifications.wake()
    approvals.wake()
    timetable.wake()
  })

  const driving = new Map<Promise<void>, RunId>()
  const track = (run: RunRecord, work: Promise<void>) => {
    driving.set(work, run.id)
    return work.finally(() => {
      driving.delete(work)
      noteRun(run)
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
    start: (run) => track(run, driveRun(deps, run)),
    onError: (error) => log.error({ error: String(error) }, 'dispatch failed'),
  })
  const stop = async (id: RunId, cause: StopCause, message: string) => {
    await base.live.get(id)?.stop(cause, message)
    bus.publish(id)
  }
  let stopCleanUp = () => {}
  const close = async ({ leaveRunning }: { leaveRunning: boolean }) => {
    stopCleanUp()
    const quiet = [timetable.close()]
    await dispatcher.close()
    if (!leaveRunning) await endAll({ ...deps, driving, cancel: runs.cancel })
    await warming.close()
    await deps.kept.close()
    quiet.push(approvals.close(), timekeeping.close())
    await notifications.close()
    base.live.detachAll()
    closing.abort()
    await keeping.close()
    await Promise.all(quiet)
    await Promise.allSettled(driving.keys())
    // A turn may have ended meanwhile.
    await deps.kept.close()
    await base.cooldowns.close()
    await disk.close()
  }
  let closed: Promise<void> | null = null
  const jobs = createJobs(deps, {
    live: base.live,
    wake: wakeDispatcher,
    cancelRun: runs.cancel,
    occupy: (place, work) => dispatcher.occupy(place, work),
  })
  const warming = new Warming(deps)
  const transfers = createTransfers(deps)
  const conversations = createConversations(deps, {
    describe: (run) => describeWhole(deps, run),
    wake: wakeDispatcher,
    onDeleted: () => keeping.purge(),
    stop: (id) => stop(id, 'cancelled', 'cancelled'),
    endOutdated: (id) => stop(id, 'question-edited', 'its question was edited'),
  })
  const messages = createMessages(base, conversations.createTurn)
  const listApprovals = async () => (await approvals.list()).map(describeEscalation)
  const describeObstacles = () => base.obstacles.describe()

  return {
    ...runs,
    say: messages.say,
    listMessages: messages.listMessages,
    ...jobs,
    ...createSessions(deps, { describeFollowUp }),
    ...transfers,
    ...freeSessionsFirst(deps, { ...transfers, deleteSession: (id) => keeping.deleteSession(id) }),
    inspectTrust: base.trust.inspectTrust,
    listTrust: base.trust.listTrust,
    decideTrust: base.trust.decideTrust,
    revokeTrust: base.trust.revokeTrust,
    prune: (request) => keeping.prune(request),
    testNotifications: async ({ targets }) =>
      (await notifications.test(targets)).map((test) => ({
        ...test,
        reason: test.reason === null ? null : given.redactor.text(test.reason),
      })),
    ...createAdoption(deps),
    ...createQueries(deps, { wakeDispatcher, describe: (run) => describeWhole(deps, run) }),
    ...createWatches(deps, {
      wake: wakeTimetable,
      onCycle,
      nudge: (id) => base.live.get(id)?.nudge(),
      describeRun: (run) => describeWhole(deps, run),
    }),
    ...createFollowUps(deps, {
      onPlanned: () => dueFollowUps.notePlanned(),
      onCycle,
      nudge: (id) => base.live.get(id)?.nudge(),
      requireRun: (id) => requireRun(store, id),
    }),
    ...conversations,
    ...freeConversationsFirst(deps, conversations),
    warmConversation: (id, request) => warming.warm(id, request),

    open: async () => {
      await timekeeping.open()
      await disk.open()
      await recoverPlacements(deps)
      await store.forgetStaged()
      // This runs before anything can become due, so that a watch that was removed from the configuration does not
      // fire.
      await takeConfigured(deps)
      await importArchive(deps)
      await quarantine(deps)
      await base.obstacles.open()
      const left = await store.listOpenProcesses()
      for (const { attempt } of left) if (attempt) enforcement.expect(given.processes.folderOf(attempt.spool))
      for (const { attempt, process } of left) {
        if (attempt === null) await deps.kept.adopt(process)
        const run = attempt && (await store.getRun(attempt.runId))
        if (run) dispatcher.adopt(run, track(run, adoptAttempt(deps, run, attempt)))
      }
      for (const job of (await store.listJobs({ limit: MAX_PAUSED, state: 'paused' })).items) {
        await continueIfAffordable(deps, job)
      }
      await messages.open()
      dispatcher.open()
      notifications.open()
      approvals.wake()
      timetable.wake()
      keeping.open()
      stopCleanUp = startCleanUp({ ...deps, archiveSession: ({ id }) => base.mirrors.catchUp(id) })
      return { adopted: left.length }
    },

    close: (options = { leaveRunning: true }) => {
      closed ??= close(options)
      return closed
    },

    listQuarantined: () => listQuarantined(deps),
    findSandbox: async () => describeSandbox(await given.sandbox.detect()),
    findStorageFailure: () => {
      const { current } = storageFailures
      return current && { since: current.since.toISOString(), why: current.why }
    },
    describeDisks: () => disk.describe(),
    describeObstacles,
    listKept: () => deps.kept.list(),
    getChain: async (id) => {
      const chain = await readChain(deps, id, (run) => describeWhole(deps, run))
      if (chain) return chain
      await requireRun(store, id)
      throw new Error(`run ${id} is in no chain`)
    },
    listApprovals,
    decideApproval: async (id, approval) => {
      await requireRun(store, id)
      return describeEscalation(await approvals.answer(id, approval))
    },
    listAgents: () => given.agents.describe(),
    readStats: store.readStats,
    readOverview: (since) =>
      readOverview(
        deps,
        {
          describeRun: (run) => describeWhole(deps, run),
          readLive: ({ id }) => base.live.get(id)?.read() ?? null,
          listSimulated: () => given.agents.listSimulated(),
          listApprovals,
          listJobs: jobs.listJobs,
          describeObstacles,
        },
        since,
      ),
    ...createReferences(deps),
    listCosts: store.listCosts,
    planTurn: (id, request) => planTurn(deps, id, request),
  }
}
