/**
 * An attempt whose process has run and ended, and whose output has not been read: what a daemon finds that starts after
 * a long time. The store, the folder and the supervision are the real ones.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { claudeAdapter } from '../src/agents/claude/adapter.ts'
import { AgentRegistry, type ConfiguredAgent } from '../src/agents/registry.ts'
import { configSchema } from '../src/config/schema.ts'
import { AttemptId, RunId } from '../src/contract/ids.ts'
import { Redactor } from '../src/core/redact/redactor.ts'
import { SteadyClock } from '../src/core/steady-clock.ts'
import type { Persist } from '../src/engine/base/persist.ts'
import { ProgressBus } from '../src/engine/base/progress.ts'
import { StorageFailures } from '../src/engine/base/storage-failures.ts'
import { Obstacles } from '../src/engine/obstacles/obstacles.ts'
import { createPlainPurpose } from '../src/engine/path/plain.ts'
import { ReadingThread } from '../src/engine/supervise/reading/thread.ts'
import { Supervision, type SupervisionDeps } from '../src/engine/supervise/supervision.ts'
import { systemClock } from '../src/library/clock.ts'
import { engineSettings } from '../src/library/settings.ts'
import { attemptDir, prepare } from '../src/process/attempt-dir.ts'
import { Handling } from '../src/process/handling.ts'
import { openHost } from '../src/process/host.ts'
import { recordSession } from '../src/store/runs/new-session.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

export interface Spooled {
  database: string
  /** Reads, parses, stores and publishes all of the output. */
  supervise: () => Promise<void>
  close: () => Promise<void>
}

const BUNDLED_THREAD = new URL('../dist/app/reading-thread.js', import.meta.url)
const GONE = { pid: 0, startTicks: '', bootId: '' }
const quiet = () => {}

export async function spoolAttempt(folder: string, output: string): Promise<Spooled> {
  const database = join(folder, 'reprise.db')
  // The secrets that a daemon has: the known forms, its own token, a key of the agent.
  const values = [randomBytes(32).toString('base64url'), `sk-ant-${randomBytes(60).toString('base64url')}`]
  const redactor = new Redactor({ builtIn: true, patterns: [], values })
  const store = await openSqliteStore(database, systemClock.now(), { redactor })
  const spool = join(folder, 'spool')
  mkdirSync(spool)
  const agent: ConfiguredAgent = {
    name: 'claude',
    adapter: claudeAdapter,
    command: null,
    env: {},
    model: null,
    args: [],
    simulated: false,
  }
  const bus = new ProgressBus()
  const log = {
    info: quiet,
    warn: quiet,
    error: (fields: object, message: string) => console.error(message, fields),
  }
  const config = configSchema.parse({})
  const clock = new SteadyClock(systemClock)
  const closing = new AbortController().signal
  const readingThread = new ReadingThread(
    // Started as a daemon does it: from the bundle, which needs no translation first.
    () => new Worker(BUNDLED_THREAD, { workerData: redactor.options }),
    log,
  )
  const agents = new AgentRegistry([agent], { get: async () => null, put: async () => {} }, [])
  const settings = engineSettings(config, new Map(), [])
  const storageFailures = new StorageFailures(systemClock, () => true)
  const persist: Persist = (write) => write()
  const purpose = createPlainPurpose({
    store,
    clock,
    persist,
    settings,
    nextPrompts: { current: async (run) => run, taskOf: async () => null },
  })
  const parts: SupervisionDeps = {
    store,
    clock,
    bus,
    log,
    redactor,
    readingThread,
    persist,
    processes: openHost(spool),
    handling: new Handling(join(folder, 'handling')),
    storageFailures,
    disk: { full: null, newestFull: null },
    agents,
    purposes: { of: () => purpose },
    nextPrompts: {
      takeOver: () => null,
      hold: () => ({ notePlanned: quiet, give: async () => {}, look: async () => null }),
      noteTaken: async () => {},
    },
    obstacles: new Obstacles(
      { store, agents, clock, random: Math.random, log, settings, bus, closing, storageFailures },
      quiet,
    ),
    settings,
  }
  const at = systemClock.now()
  const { run } = await store.admitRun({
    id: RunId.create(at),
    idempotencyKey: null,
    agent: agent.name,
    model: null,
    workDir: folder,
    prompt: 'prompt',
    promptId: randomUUID(),
    request: {
      permissions: 'edits',
      forceFreshSession: false,
      maxDurationMs: null,
      maxResumes: null,
      maxTurns: null,
      maxBudgetUsd: null,
    },
    sessionId: null,
    createdAt: at,
  })
  const known = { agent: agent.name, agentSessionId: randomUUID(), runtimeId: 'bench', runtime: null }
  const session = recordSession({ ...known, workDir: folder, workDirId: null }, at)
  const attempt = await store.startAttempt({
    attempt: {
      id: AttemptId.create(at),
      runId: run.id,
      sessionId: session.id,
      agentSessionId: session.agentSessionId,
      resumed: false,
      freshReason: 'first-run',
      carry: 'none',
      promptId: run.promptId,
      epoch: 0,
      told: null,
      kind: 'turn',
      startedAt: at,
    },
    newSession: session,
    events: () => [],
  })
  if (!attempt) throw new Error('the attempt did not start')
  await store.markLaunched(attempt, GONE)
  const dir = attemptDir(spool, attempt.id)
  prepare(dir, [])
  writeFileSync(dir.out, output)
  writeFileSync(join(dir.path, 'exit'), '0\n')
  bus.subscribe(run.id, quiet)
  return {
    database,
    supervise: async () => {
      const end = await new Supervision(parts, {
        run,
        attempt,
        adapter: claudeAdapter,
        gate: null,
        mayStay: false,
        dir,
        keeper: GONE,
        onWaiting: () => {},
        onTurnEnd: () => {},
      }).run()
      if (end?.kind !== 'exited') throw new Error(`supervision ended with ${JSON.stringify(end)}`)
    },
    close: async () => {
      await readingThread.close()
      await store.close()
    },
  }
}
