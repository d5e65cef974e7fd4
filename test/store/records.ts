/** Runs, sessions, attempts and endings as the engine would make them. */
import { randomUUID } from 'node:crypto'
import type { EventBody } from '../../src/contract/events.ts'
import { AttemptId, RunId } from '../../src/contract/ids.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import type { AttemptEnding, AttemptRecord, NewAttempt } from '../../src/store/runs/attempt-records.ts'
import { recordSession } from '../../src/store/runs/new-session.ts'
import type { NewRun, RunRecord } from '../../src/store/runs/records.ts'
import type { NewSession, SessionRecord } from '../../src/store/runs/session-records.ts'
import type { StartInput } from '../../src/store/runs/start-attempt.ts'
import type { Store } from '../../src/store/store.ts'

export const T0 = new Date('2026-03-01T12:00:00Z')
export const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000)

export const newRun = (change: Partial<NewRun> = {}): NewRun => ({
  id: RunId.create(T0),
  idempotencyKey: null,
  agent: 'claude',
  model: null,
  workDir: '/srv/project',
  prompt: 'do it',
  promptId: randomUUID(),
  request: {
    permissions: 'ask',
    forceFreshSession: false,
    maxDurationMs: null,
    maxResumes: null,
    maxTurns: null,
    maxBudgetUsd: null,
  },
  sessionId: null,
  createdAt: T0,
  ...change,
})

export function newSession(change: Partial<NewSession> = {}): NewSession {
  const place = { workDir: '/srv/project', workDirId: null, runtimeId: 'runtime-a', runtime: null }
  return recordSession({ agent: 'claude', agentSessionId: randomUUID(), ...place, ...change }, T0)
}

export const newAttempt = (
  run: Pick<RunRecord, 'id' | 'promptId'>,
  session: Pick<SessionRecord, 'id' | 'agentSessionId'>,
  change: Partial<NewAttempt> = {},
): NewAttempt => ({
  id: AttemptId.create(T0),
  runId: run.id,
  sessionId: session.id,
  agentSessionId: session.agentSessionId,
  resumed: false,
  freshReason: 'first-run',
  carry: 'none',
  promptId: run.promptId,
  epoch: null,
  told: null,
  kind: 'turn',
  startedAt: at(1),
  ...change,
})

export const note = (text: string): EventBody => ({ type: 'note', text })

export const COMPLETED = { name: 'completed', message: 'completed' } as const

export const ending = (attempt: AttemptRecord, change: Partial<AttemptEnding> = {}): AttemptEnding => ({
  attempt,
  outcome: COMPLETED,
  exitCode: 0,
  costUsd: 0.5,
  session: {
    agentSessionId: null,
    turns: 1,
    told: null,
    poison: null,
    contextTokens: 1000,
    contextWindow: 200_000,
  },
  spend: {
    usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 4 },
    estimated: false,
    contextTokens: 1000,
    contextWindow: 200_000,
  },
  resultText: 'done',
  interruptions: 0,
  done: { modelCalls: 0, toolCalls: 0, refusals: 0 },
  next: { kind: 'settle', outcome: COMPLETED },
  events: [{ type: 'run-end', outcome: COMPLETED }],
  at: at(9),
  ...change,
})

export async function admitted(store: Store, change: Partial<NewRun> = {}): Promise<RunRecord> {
  return (await store.admitRun(newRun(change))).run
}

export function startAttempt(
  store: Store,
  input: Pick<StartInput, 'attempt' | 'newSession' | 'events'>,
): Promise<AttemptRecord | null> {
  return store.startAttempt({ sent: { promptChars: 5, transcriptChars: 50, leftOut: null }, ...input })
}

/** A run with an attempt in progress, in a new session. */
export async function running(store: Store, change: Partial<NewRun> = {}) {
  const run = await admitted(store, change)
  const session = newSession()
  const attempt = await startAttempt(store, {
    attempt: newAttempt(run, session),
    newSession: session,
    events: (number) => [note(`attempt ${number}`)],
  })
  if (!attempt) throw new Error('expected the attempt to start')
  return { run, session, attempt }
}

/** Everything that can be read about a run. */
export async function everythingOf(store: Store, runId: RunId) {
  return {
    run: await store.getRun(runId),
    attempts: await store.listAttempts(runId),
    events: await store.listEvents(runId),
    pending: await store.listPending(runId),
  }
}
