/**
 * A daemon without a server that halts at a named point of the store, so that it can be killed exactly there. Usage:
 * pausing-daemon.ts before|after METHOD. Reads from stdin what to do: `{run: CreateRun}`, `{job: CreateJob}`, or
 * `{turn: {conversationId, request: CreateTurn}}`; `answerAll` allows whatever is asked. Prints "paused" when it is
 * there.
 */
import { text } from 'node:stream/consumers'
import { AgentRegistry } from '../../src/agents/registry.ts'
import { loadConfig } from '../../src/config/load.ts'
import { RunId } from '../../src/contract/ids.ts'
import { NOTHING_TO_REDACT } from '../../src/core/redact/redactor.ts'
import { SteadyClock } from '../../src/core/steady-clock.ts'
import { ProgressBus } from '../../src/engine/base/progress.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { ReadingThread } from '../../src/engine/supervise/reading/thread.ts'
import { bundledCommands, configureAgents } from '../../src/library/agents.ts'
import { brokerEnvironment } from '../../src/library/broker-environment.ts'
import { systemClock } from '../../src/library/clock.ts'
import { lockHome } from '../../src/library/lock.ts'
import { createNotifier } from '../../src/library/notifier.ts'
import { engineSettings } from '../../src/library/settings.ts'
import { startReadingThread } from '../../src/library/start-reading-thread.ts'
import { openBrokerHost } from '../../src/process/broker/host.ts'
import { openGit } from '../../src/process/git/run.ts'
import { Handling } from '../../src/process/handling.ts'
import { openHost } from '../../src/process/host.ts'
import { openSandboxHost } from '../../src/process/sandbox/host.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'

const [when, method] = process.argv.slice(2) as ['before' | 'after', keyof Store]
const home = process.env.REPRISE_HOME ?? ''
const { config, watches } = loadConfig({ home, cwd: home, env: process.env })
lockHome(home, 'daemon')
const store = await openSqliteStore(`${home}/reprise.db`, systemClock.now())
const original = store[method] as (...args: unknown[]) => Promise<unknown>

const paused: Store = {
  ...store,
  [method]: async (...args: unknown[]) => {
    if (when === 'after') await original(...args)
    process.stdout.write('paused\n')
    return new Promise(() => {})
  },
}

const clock = new SteadyClock(systemClock)
const log = { info: () => {}, warn: console.error, error: console.error }
const engine = createEngine({
  store: paused,
  agents: new AgentRegistry(
    configureAgents(config, process.env),
    { get: store.getFact, put: store.putFact },
    bundledCommands(),
  ),
  clock,
  git: openGit({ env: process.env, ownDirs: `${home}/git` }),
  bus: new ProgressBus(),
  notifications: createNotifier({ config, store: paused, clock, home, env: process.env, log }),
  random: Math.random,
  log,
  redactor: NOTHING_TO_REDACT,
  readingThread: new ReadingThread(() => startReadingThread(NOTHING_TO_REDACT.options), log),
  processes: openHost(`${home}/spool`),
  spool: `${home}/spool`,
  handling: new Handling(`${home}/handling`),
  disks: { paths: [home], readFree: async () => null, reserve: { fill: async () => {}, release: () => {} } },
  damaged: `${home}/damaged`,
  mirror: `${home}/mirror`,
  archive: `${home}/archive`,
  imports: `${home}/imports`,
  agentSessions: `${home}/agent-sessions`,
  stateDir: `${home}/state`,
  sandbox: openSandboxHost(process.env.PATH ?? '', config.run.sandboxKind),
  broker: openBrokerHost({
    names: config.broker.programs,
    path: process.env.PATH ?? '',
    envOf: brokerEnvironment(process.env),
    git: openGit({ env: process.env }),
  }),
  sandboxes: `${home}/sandboxes`,
  ownPaths: [`${home}/`],
  protectedPaths: [],
  hiddenPaths: [],
  settings: engineSettings(config, new Map(), watches),
  readProject: async () => null,
})
setInterval(() => {}, 1000)
await engine.open()
const { run, job, turn, answerAll } = JSON.parse(await text(process.stdin))
const id = job
  ? (await engine.createJob(job, null)).job.runId
  : turn
    ? (await engine.createTurn(turn.conversationId, turn.request, null)).run.id
    : (await engine.admit(run, null)).run.id
process.stdout.write(`${id}\n`)
if (answerAll) {
  if (!RunId.is(id)) throw new Error(id)
  engine.onProgress(id, async () => {
    const { pending } = await engine.getRun(id)
    for (const { toolUseId } of pending)
      await engine.answer(id, { toolUseId, decision: 'allow' }).catch(() => {})
  })
}
