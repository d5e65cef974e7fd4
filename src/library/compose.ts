/** The composition root: the only place that knows all concrete parts and connects them. */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AgentRegistry, type ConfiguredAgent } from '../agents/registry.ts'
import { ensureHome } from '../config/home.ts'
import { loadConfig } from '../config/load.ts'
import { tierEntries } from '../config/policy-schema.ts'
import { presentConfig } from '../config/present.ts'
import type { Config } from '../config/schema.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Clock } from '../core/clock.ts'
import { SteadyClock } from '../core/steady-clock.ts'
import { openAccess } from '../engine/access/access.ts'
import type { Access } from '../engine/api.ts'
import { type Changes, describeChanges } from '../engine/base/changes.ts'
import { ProgressBus } from '../engine/base/progress.ts'
import { createEngine } from '../engine/engine.ts'
import type { RunningEngine } from '../engine/engine-input.ts'
import type { FurtherPurposes } from '../engine/purposes.ts'
import { AGENT_SESSIONS } from '../engine/queries/stored-session.ts'
import { ReadingThread } from '../engine/supervise/reading/thread.ts'
import { openBrokerHost } from '../process/broker/host.ts'
import { onePerDisk, openReserve, readDiskFree } from '../process/disk-free.ts'
import { openGit } from '../process/git/run.ts'
import { Handling } from '../process/handling.ts'
import { openHost } from '../process/host.ts'
import { realPath } from '../process/real-path.ts'
import { openSandboxHost } from '../process/sandbox/host.ts'
import type { Scenario } from '../simulator/scenario-types.ts'
import { openSqliteStore } from '../store/sqlite/open.ts'
import { type Restored, restoreCopy } from '../store/sqlite/upgrade.ts'
import type { Store } from '../store/store.ts'
import {
  ALL_ADAPTERS,
  bundledCommands,
  configureAgents,
  type MachineEnv,
  needsSimulator,
  simulate,
} from './agents.ts'
import { brokerEnvironment } from './broker-environment.ts'
import { systemClock } from './clock.ts'
import { closeAll } from './close-all.ts'
import { backupFolder, databasePath } from './database-path.ts'
import { type Holder, lockHome } from './lock.ts'
import type { EngineLog } from './log.ts'
import { createNotifier } from './notifier.ts'
import { hiddenPathsOf, protectedPathsOf } from './own-paths.ts'
import { readProject } from './project.ts'
import { createRedactor } from './redaction.ts'
import { openSealer } from './sealer.ts'
import { engineSettings } from './settings.ts'
import { cancelSettledSince } from './settled-since.ts'
import { openSimulator } from './simulated.ts'
import { startReadingThread } from './start-reading-thread.ts'
import { ensureToken, writeToken } from './token.ts'
import { readVersion } from './version.ts'

export interface ComposeInput {
  home: string
  cwd: string
  env: MachineEnv
  log: EngineLog
  /** Describes the holder of the home, for the error that a second one gets. */
  holder: Holder['kind']
  /** Whether an agent without credentials talks to the built-in simulator. */
  simulate: boolean
  /** The scenario of the simulator. With one, every agent that can talks to the simulator. */
  scenario?: Scenario | undefined
  /** Settings of a program that embeds Reprise, in the form of config.yaml. They override all others. */
  settings?: unknown
  /** The machine's clock by default; tests provide their own. */
  clock?: Clock
  /** Agents in addition to the configured ones. They may use adapters that are not part of Reprise. */
  agents?: readonly ConfiguredAgent[]
  /** What runs may be for besides the purposes of Reprise's own. */
  purposes?: FurtherPurposes
  /** Go back to a copy of the database first: this file, or the newest copy that can be used. */
  restore?: { file: string | null } | undefined
  /** Called before something that may take long. */
  onWork?: ((what: string) => void) | undefined
}

export interface Composition {
  /** The real path of the home. */
  home: string
  config: Config
  engine: RunningEngine
  changes: Changes
  access: Access
  /** The configuration in force, without values that may be secret. */
  configuration: { settings: unknown; sources: string[] }
  /** The simulator's address, if an agent needs the simulator. */
  simulatorUrl: string | null
  /** Messages for the person who starts the daemon. */
  notices: string[]
  close: () => Promise<void>
}

/** Creates everything except the HTTP server. Nothing runs until the engine is opened. */
export async function compose({
  home: asked,
  cwd,
  env,
  log,
  holder,
  simulate: mayPretend,
  scenario,
  settings,
  clock: machine = systemClock,
  agents: others = [],
  purposes,
  restore,
  onWork,
}: ComposeInput): Promise<Composition> {
  const { config, watches, sources } = loadConfig({ home: asked, cwd, env, settings })
  const notices = ensureHome(asked)
  // The real path is used because agents outlive the daemon: their paths must stay valid if a symbolic link is removed.
  const home = realPath(asked)
  const closers: (() => unknown)[] = []
  const close = () => closeAll(closers)
  try {
    const lock = lockHome(home, holder)
    closers.push(lock.release)
    const configured = [...configureAgents(config, env), ...others]
    const token = ensureToken(home)
    const known = createRedactor({ config, env, agents: configured, token })
    const { redactor } = known
    notices.push(...known.notices)
    log.redactWith(redactor)
    const database = databasePath(config, home)
    const upgrade = {
      folder: backupFolder(home),
      version: readVersion(),
      onWork,
      onCopy: (path: string) =>
        notices.push(
          `The database was migrated. The copy from before is ${path}; to go back to it, use the older version: reprise up --restore-backup`,
        ),
    }
    const restored = restore
      ? await restoreCopy(database, { ...upgrade, ...restore, now: machine.now() })
      : null
    if (restored) notices.push(describeRestored(restored))
    const store = await openSqliteStore(database, machine.now(), {
      redactor,
      now: () => machine.now(),
      sealer: openSealer(home),
      upgrade,
    })
    closers.push(store.close)
    await store.sealSecrets()
    if (config.store.url !== undefined) await claimDatabase(store, home)
    const [spool, stateDir] = [join(home, 'spool'), join(home, 'state')]
    for (const dir of [spool, stateDir]) mkdirSync(dir, { recursive: true, mode: 0o700 })

    const { agents, simulatorUrl } = mayPretend
      ? await withSimulator(configured, home, scenario, closers)
      : { agents: configured, simulatorUrl: null }
    const simulated = agents.filter((agent) => agent.simulated).map((agent) => agent.name)
    if (simulatorUrl) {
      notices.push(
        scenario !== undefined
          ? `${simulated.join(', ')} talks to the built-in simulator (${simulatorUrl}), which plays your scenario.`
          : `No Claude credentials found: ${simulated.join(', ')} talks to the built-in simulator (${simulatorUrl}). Run \`claude\` once to log in, or set ANTHROPIC_API_KEY, then restart.`,
      )
    }
    const clock = new SteadyClock(machine)
    const readingThread = new ReadingThread(() => startReadingThread(redactor.options), log)
    closers.push(() => readingThread.close())
    const engine = createEngine({
      store,
      agents: new AgentRegistry(
        agents,
        { get: store.getFact, put: store.putFact },
        bundledCommands(),
        ALL_ADAPTERS,
      ),
      clock,
      git: openGit({ env, ownDirs: join(home, 'git') }),
      bus: new ProgressBus(),
      notifications: createNotifier({ config, store, clock, home, env, log }),
      random: Math.random,
      log,
      redactor,
      readingThread,
      processes: openHost(spool),
      spool,
      handling: new Handling(join(home, 'handling')),
      disks: {
        paths: onePerDisk([home, spool, dirname(database)]),
        readFree: readDiskFree,
        reserve: openReserve(join(home, 'reserve')),
      },
      damaged: join(home, 'damaged'),
      mirror: join(home, 'mirror'),
      archive: join(home, 'archive'),
      imports: join(home, 'imports'),
      agentSessions: join(home, AGENT_SESSIONS),
      stateDir,
      sandbox: openSandboxHost(env.PATH ?? '', config.run.sandboxKind),
      broker: openBrokerHost({
        names: config.broker.programs,
        path: env.PATH ?? '',
        envOf: brokerEnvironment(env),
        git: openGit({ env }),
      }),
      sandboxes: join(home, 'sandboxes'),
      ownPaths: ownPaths(config, home, asked),
      protectedPaths: protectedPathsOf([home, asked]),
      hiddenPaths: hiddenPathsOf(home),
      settings: engineSettings(config, readPrompts(config), watches),
      readProject: async (workDir) => readProject(workDir),
      ...(purposes ? { purposes } : {}),
    })
    closers.push(engine.close)
    await cancelSettledSince(store, engine)
    const access = await openAccess(
      { store, clock: machine, writeCommandLineToken: (secret) => writeToken(home, secret) },
      token,
    )
    const configuration = { settings: presentConfig(config), sources: [...sources] }
    const changes = describeChanges(store)
    return { home, config, engine, changes, access, configuration, simulatorUrl, notices, close }
  } catch (error) {
    await close()
    throw error
  }
}

const describeRestored = ({ from, kept, settledSince }: Restored) =>
  `Went back to the copy ${from}; the newer database is kept in ${kept}.${settledSince.length === 0 ? '' : ` Runs that were open in the copy and have ended since are cancelled in it, not repeated: ${settledSince.join(', ')}.`}`

/** The home, by any of its names, and a database outside of it. */
function ownPaths(config: Config, home: string, asked: string): string[] {
  const database = databasePath(config, home)
  return [`${home}/`, `${asked}/`, ...['', '-wal', '-shm'].map((end) => database + end)]
}

const readPrompts = ({ tiers }: Config) =>
  new Map(
    tierEntries(tiers).flatMap(([number, { promptFile }]) =>
      promptFile === undefined ? [] : [[Number(number), readFileSync(promptFile, 'utf8')] as const],
    ),
  )

/** A database outside the home belongs to one home only, because the spools of its attempts and the lock are there. */
async function claimDatabase(store: Store, home: string): Promise<void> {
  const owner = await store.claimFact('home', home)
  if (realPath(owner) === home) return
  throw new RepriseError('home-locked', `the database belongs to the home ${owner}, not to ${home}`, {
    hint: `Set REPRISE_HOME=${owner}, or remove store.url so that this home gets a database of its own.`,
  })
}

async function withSimulator(
  agents: ConfiguredAgent[],
  home: string,
  scenario: Scenario | undefined,
  closers: (() => unknown)[],
) {
  const needy = await Promise.all(
    agents.map(async (agent) => scenario !== undefined || needsSimulator(agent)),
  )
  if (!needy.includes(true)) return { agents, simulatorUrl: null }
  const simulator = await openSimulator(home, scenario)
  closers.push(() => simulator.close())
  const simulatorUrl = simulator.url
  return {
    agents: agents.map((agent, index) => (needy[index] ? simulate(agent, simulatorUrl, home) : agent)),
    simulatorUrl,
  }
}
