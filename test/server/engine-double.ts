/** An engine in memory, for what is about HTTP only: routing, guards, bad input, streams. */

import type { CreateRun } from '../../src/contract/create-run.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import type { EventBody, RunEvent } from '../../src/contract/events.ts'
import { RunId, SessionId } from '../../src/contract/ids.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import type { ToolResult } from '../../src/contract/question.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { SessionDetail } from '../../src/contract/session.ts'
import type { Engine } from '../../src/engine/api.ts'
import { type ConversationDoubles, createConversationDoubles } from './conversation-doubles.ts'
import { createJobDoubles, type JobDoubles } from './job-doubles.ts'
import { createWatchDoubles, type WatchDoubles } from './watch-doubles.ts'

export interface EngineDouble
  extends Engine,
    Pick<ConversationDoubles, 'addConversation'>,
    Pick<JobDoubles, 'addJob' | 'addRunTo' | 'changeJob' | 'asked'>,
    Pick<WatchDoubles, 'addWatch' | 'addCycle' | 'addFollowUp' | 'askedOfWatches' | 'answerTriggers'> {
  addRun: (change?: Partial<RunDetail>) => RunDetail
  emit: (id: RunId, ...bodies: EventBody[]) => void
  settle: (id: RunId) => void
  listeners: (id: RunId) => number
  answers: { id: RunId; answer: ToolResult }[]
  session: SessionDetail
}

export function createEngineDouble(): EngineDouble {
  const runs = new Map<RunId, RunDetail>()
  const events = new Map<RunId, RunEvent[]>()
  const keys = new Map<string, RunId>()
  const listeners = new Map<RunId, Set<() => void>>()
  const answers: EngineDouble['answers'] = []
  const session = newSession()

  const get = (id: RunId): RunDetail => {
    const run = runs.get(id)
    if (!run) throw new RepriseError('not-found', `there is no run ${id}`)
    return run
  }
  const addRun = (change: Partial<RunDetail> = {}) => {
    const run = { ...newRun(), ...change }
    runs.set(run.id, run)
    events.set(run.id, [])
    return run
  }
  const emit = (id: RunId, ...bodies: EventBody[]) => {
    const known = events.get(id) ?? []
    for (const body of bodies) {
      known.push({ ...body, runId: id, seq: known.length + 1, attemptId: null, at: new Date().toISOString() })
    }
    for (const listener of listeners.get(id) ?? []) listener()
  }

  /** One run per key, whatever asks for it. */
  const once = (key: string | null, create: () => RunDetail) => {
    const earlier = key === null ? undefined : keys.get(key)
    if (earlier) return { run: get(earlier), created: false }
    const run = create()
    if (key !== null) keys.set(key, run.id)
    return { run, created: true }
  }

  return {
    ...createConversationDoubles((change, key) => once(key, () => addRun(change))),
    ...createJobDoubles(addRun),
    ...createWatchDoubles(),
    say: async () => notPlayed(),
    listMessages: async () => notPlayed(),
    getChain: async () => notPlayed(),
    inspectTrust: async () => notPlayed(),
    listTrust: async () => [],
    decideTrust: async () => notPlayed(),
    revokeTrust: async () => notPlayed(),
    resolve: async () => notPlayed(),
    exportSession: async () => notPlayed(),
    importSession: async () => notPlayed(),
    forkSession: async () => notPlayed(),
    planSessionMove: async () => notPlayed(),
    moveSession: async () => notPlayed(),
    forkConversation: async () => notPlayed(),
    listApprovals: async () => [],
    decideApproval: async () => notPlayed(),
    addRun,
    emit,
    settle: (id) => {
      runs.set(id, { ...get(id), state: 'settled', outcome: 'completed' })
      emit(id, { type: 'run-end', outcome: { name: 'completed', message: 'done' } })
    },
    listeners: (id) => listeners.get(id)?.size ?? 0,
    answers,
    session,

    admit: async (request: CreateRun, key) => {
      if (request.agent === 'nobody') throw new RepriseError('agent-unknown', 'there is no agent nobody')
      if (request.agent === 'broken') throw new Error('secret insides')
      return once(key, () => addRun({ prompt: request.prompt, workDir: request.workDir }))
    },
    cancel: async (id) => {
      const run = get(id)
      if (run.state === 'settled') throw new RepriseError('run-settled', `run ${id} has ended already`)
      return run
    },
    continueRun: async (id) => get(id),
    answer: async (id, answer) => {
      answers.push({ id, answer })
      return get(id)
    },
    getRun: async (id) => get(id),
    listRuns: async ({ limit, state }) => {
      const items = [...runs.values()].filter((run) => state === undefined || run.state === state)
      return { items: items.slice(0, limit), nextCursor: items.length > limit ? 'more' : null }
    },
    listQuarantined: async () => [],
    countRuns: async () => ({ queued: 0, running: runs.size, settled: 0 }),
    findSandbox: async () => ({ kind: 'none', problems: [], advice: null }),
    warmConversation: async () => ({ warm: true }),
    listKept: () => [],
    findStorageFailure: () => null,
    describeDisks: () => [],
    describeObstacles: async () => ({ obstacles: [], quotas: [], paused: [] }),
    listEvents: async (id, after, limit) => (events.get(get(id).id) ?? []).slice(after, after + limit),
    onProgress: (id, listener) => {
      const set = listeners.get(id) ?? new Set()
      listeners.set(id, set.add(listener))
      return () => void set.delete(listener)
    },
    listSessions: async () => ({ items: [session], nextCursor: null }),
    getSession: async (id) => {
      if (id === session.id || id === session.agentSessionId) return session
      throw new RepriseError('not-found', `there is no session ${id}`)
    },
    deleteSession: async (id) => {
      if (id !== session.id) throw new RepriseError('not-found', `there is no session ${id}`)
    },
    prune: async ({ dryRun = false }) => ({
      dryRun,
      items: [
        { kind: 'runs', count: 12, bytes: 20_480 },
        { kind: 'jobs', count: 3, bytes: 0 },
      ],
      freedBytes: dryRun ? 20_480 : 8_388_608,
      databaseBytes: 4_194_304,
    }),
    testNotifications: async () => [],
    listAdoptable: async () => ({ items: [], nextCursor: null }),
    adoptSessions: async () => [],
    listAgents: async () => [],
    readOverview: async () => notPlayed(),
    listCosts: async () => [],
    planTurn: async () => notPlayed(),
    readStats: async () => ({
      runs: runs.size,
      attempts: 0,
      conversations: 0,
      resumedRuns: 0,
      outcomes: {},
      freshReasons: {},
      usage: NO_USAGE,
      costUsd: 0,
      promptTokensSent: 0,
      promptTokensOfTranscripts: 0,
      promptTokensSaved: 0,
      cache: {
        resumedTurns: 0,
        expectedReadTokens: 0,
        readTokens: 0,
        writtenTokens: 0,
        rewrittenTokens: 0,
        rewriteUsd: 0,
        savedUsd: 0,
        rewrites: {},
      },
    }),
  }
}

function notPlayed(): never {
  throw new RepriseError('not-found', 'not played')
}

function newRun(): RunDetail {
  const now = new Date()
  return {
    id: RunId.create(now),
    agent: 'claude',
    model: null,
    workDir: '/tmp',
    prompt: 'hello',
    permissions: 'edits',
    directorySettings: null,
    dryRun: false,
    sandbox: null,
    paused: false,
    refusals: 0,
    escalation: null,
    state: 'running',
    outcome: null,
    message: null,
    resultText: null,
    sessionId: null,
    session: null,
    resumed: null,
    freshReason: null,
    carry: null,
    parentRunId: null,
    tier: null,
    attemptCount: 0,
    createdAt: now.toISOString(),
    startedAt: null,
    endedAt: null,
    notBefore: null,
    durationMs: null,
    usage: NO_USAGE,
    costUsd: null,
    costEstimated: false,
    contextTokens: null,
    contextWindow: null,
    pending: [],
    promptTokens: null,
    transcriptTokens: null,
    leftOut: null,
    conversationId: null,
    turn: null,
    jobId: null,
    cycleId: null,
    followUpId: null,
    followUps: [],
    attempts: [],
  }
}

function newSession(): SessionDetail {
  const now = new Date()
  return {
    id: SessionId.create(now),
    agent: 'claude',
    agentSessionId: '3f0c1e52-5f5e-4c1f-9a56-0a4c2f3f8a11',
    workDir: '/tmp',
    runtimeId: 'rt',
    agentVersion: null,
    state: 'active',
    status: 'active',
    stateSince: now.toISOString(),
    origin: 'reprise',
    poison: null,
    turns: 1,
    messages: 2,
    resumes: 0,
    usage: NO_USAGE,
    stopReason: null,
    contextTokens: null,
    contextWindow: null,
    contextFill: null,
    costUsd: 0,
    createdAt: now.toISOString(),
    lastUsedAt: now.toISOString(),
    resumableUntil: now.toISOString(),
    archivedAt: null,
    title: null,
    files: [],
    runs: [],
    followUps: [],
    continues: null,
    continuedBy: [],
    conversationId: null,
    transcript: { state: 'present', path: '/tmp/x.jsonl', bytes: 1 },
    runIds: [],
    heldBy: null,
    copiedFrom: null,
  }
}
