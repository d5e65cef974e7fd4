/**
 * A whole engine whose agents, processes and transcripts are in memory, with a real store. An engine can be dropped at any
 * point, as if its process had been killed, and another one opened on the same store and processes.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AgentRegistry } from '../../../src/agents/registry.ts'
import { configSchema } from '../../../src/config/schema.ts'
import type { Capabilities } from '../../../src/contract/agent.ts'
import type { CreateRun } from '../../../src/contract/create-run.ts'
import type { EventOf, EventType, RunEvent } from '../../../src/contract/events.ts'
import { RunId } from '../../../src/contract/ids.ts'
import type { DiskFree } from '../../../src/core/disk.ts'
import { type Notice, type PlannedNotification, planNotifications } from '../../../src/core/notify/plan.ts'
import { NOTHING_TO_REDACT } from '../../../src/core/redact/redactor.ts'
import { SteadyClock } from '../../../src/core/steady-clock.ts'
import type { Notifications } from '../../../src/engine/base/notifications.ts'
import { ProgressBus } from '../../../src/engine/base/progress.ts'
import type { EngineSettings } from '../../../src/engine/base/settings.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { EngineInput, RunningEngine } from '../../../src/engine/engine-input.ts'
import type { FurtherPurposes } from '../../../src/engine/purposes.ts'
import { ReadingThread } from '../../../src/engine/supervise/reading/thread.ts'
import { readProject } from '../../../src/library/project.ts'
import { engineSettings } from '../../../src/library/settings.ts'
import { openBrokerHost } from '../../../src/process/broker/host.ts'
import { openGit } from '../../../src/process/git/run.ts'
import { Handling } from '../../../src/process/handling.ts'
import { openSandboxHost } from '../../../src/process/sandbox/host.ts'
import type { Store } from '../../../src/store/store.ts'
import { createMemoryAdapter } from './adapter.ts'
import { SkippingClock } from './clock.ts'
import { Life } from './life.ts'
import { MemoryProcesses } from './processes.ts'
import type { Script } from './script.ts'
import { base, openStore } from './store.ts'
import { MemoryTranscripts } from './transcripts.ts'

export interface StageOptions {
  /** The configuration, as in config.yaml. */
  config?: Record<string, unknown>
  settings?: Partial<EngineSettings>
  capabilities?: Partial<Capabilities>
  purposes?: FurtherPurposes
  /** The names of the configured agents. */
  agents?: readonly string[]
  /** The adapters that are known besides those of the configured agents. */
  adapters?: readonly string[]
}

const AGENTS = ['memory', 'other']

export class Stage {
  readonly workDir: string
  readonly clock = new SkippingClock()
  readonly transcripts = new MemoryTranscripts()
  readonly processes: MemoryProcesses
  readonly store: Store
  /** What happened that people may be notified of. */
  readonly told: Notice[] = []
  /** The notifications that are sent of it: there are no targets but webhooks. */
  readonly planned: PlannedNotification[] = []
  readonly logged: string[] = []
  /** The free space of all disks. */
  disk: DiskFree = { freeBytes: 2 ** 40, totalBytes: 2 ** 40, freeFiles: null, totalFiles: null }
  readonly #home: string
  readonly #options: StageOptions
  /** Of the present engine. */
  life = new Life()
  engine: RunningEngine

  private constructor(home: string, store: Store, options: StageOptions) {
    this.#home = home
    this.#options = options
    this.store = store
    this.workDir = join(home, 'work')
    mkdirSync(this.workDir)
    this.processes = new MemoryProcesses(join(home, 'spool'), this.transcripts)
    this.engine = createEngine(this.input())
  }

  static async open(options: StageOptions = {}): Promise<Stage> {
    const home = mkdtempSync(join(base, 'reprise-unit-'))
    const stage = new Stage(home, await openStore(join(home, 'reprise.db')), options)
    await stage.engine.open()
    return stage
  }

  /** Everything an engine of the present life is made of. Parts of the path can be built from it too. */
  input(): EngineInput {
    const store = this.life.bindStore(this.store)
    const note = (fields: object, message: string) => this.logged.push(`${message} ${JSON.stringify(fields)}`)
    const log = { info: () => {}, warn: note, error: note }
    // Most scripts answer one prompt, so their processes are not kept unless a test asks for it.
    const config = { conversations: { keepWarm: '0s' }, ...this.#options.config }
    const settings = engineSettings(configSchema.parse(config), new Map(), [])
    const home = this.#home
    const adapter = (name: string) =>
      createMemoryAdapter({
        transcripts: this.transcripts,
        capabilities: this.#options.capabilities ?? {},
        name,
      })
    const agent = (name: string) => ({
      name,
      adapter: adapter(name),
      // It is never started, but it has to be there.
      command: process.execPath,
      env: {},
      model: null,
      args: [],
      simulated: false,
    })
    return {
      store,
      agents: new AgentRegistry(
        (this.#options.agents ?? AGENTS).map(agent),
        // What an agent can do may change with the next engine, although its file stays the same.
        {
          get: async (key) => (key.startsWith('runtime') ? null : store.getFact(key)),
          put: async (key, value) => (key.startsWith('runtime') ? undefined : store.putFact(key, value)),
        },
        [],
        (this.#options.adapters ?? AGENTS).map(adapter),
      ),
      clock: new SteadyClock(this.clock, { maxStepMs: Number.POSITIVE_INFINITY }),
      git: openGit({ env: {}, ownDirs: join(home, 'git') }),
      bus: new ProgressBus(),
      notifications: this.#notifications(),
      random: () => 0,
      log,
      redactor: NOTHING_TO_REDACT,
      readingThread: new ReadingThread(() => {
        throw new Error('no test here prints so much')
      }, log),
      processes: this.life.bind(this.processes),
      handling: new Handling(join(home, 'handling')),
      spool: join(home, 'spool'),
      disks: {
        paths: [join(home, 'spool')],
        readFree: async () => this.disk,
        reserve: { fill: async () => {}, release: () => {} },
      },
      damaged: join(home, 'damaged'),
      mirror: join(home, 'mirror'),
      archive: join(home, 'archive'),
      imports: join(home, 'imports'),
      agentSessions: join(home, 'agent-sessions'),
      stateDir: join(home, 'state'),
      sandbox: {
        ...openSandboxHost(''),
        detect: async () => ({ means: { kind: 'none' }, refused: [] }),
      },
      broker: openBrokerHost({ names: [], path: '', envOf: () => ({}), git: openGit({ env: {} }) }),
      sandboxes: join(home, 'sandboxes'),
      ownPaths: [],
      protectedPaths: [],
      hiddenPaths: [],
      settings: { ...settings, ...this.#options.settings },
      readProject: async (workDir) => readProject(workDir),
      ...(this.#options.purposes ? { purposes: this.#options.purposes } : {}),
    }
  }

  #notifications(): Notifications {
    return {
      plan: (notice, webhook, narrowing) => {
        this.told.push(notice)
        const planned = planNotifications(notice, [], webhook, narrowing)
        this.planned.push(...planned)
        return planned
      },
      targets: [],
      test: async () => [],
      wake: () => {},
      open: () => {},
      close: async () => {},
    }
  }

  /** What the next agents do. */
  play(...scripts: Script[]): void {
    this.processes.play(...scripts)
  }

  async admit(request: Partial<CreateRun> = {}): Promise<RunId> {
    const asked = { prompt: 'do it', workDir: this.workDir, ...request }
    return this.#idOf((await this.engine.admit(asked, null)).run.id)
  }

  /** Admits a run and waits for its end. */
  async run(request: Partial<CreateRun> = {}) {
    return this.settled(await this.admit(request))
  }

  async settled(id: RunId | string) {
    await this.until(async () => (await this.store.getRun(this.#idOf(id)))?.state.at === 'settled')
    return this.engine.getRun(this.#idOf(id))
  }

  #idOf(id: string): RunId {
    if (!RunId.is(id)) throw new Error(`${id} is no run`)
    return id
  }

  async events(id: string): Promise<RunEvent[]> {
    return this.engine.listEvents(this.#idOf(id), 0, 1000)
  }

  async eventsOf<T extends EventType>(id: string, type: T): Promise<EventOf<T>[]> {
    const isIt = (event: RunEvent): event is RunEvent & EventOf<T> => event.type === type
    return (await this.events(id)).filter(isIt)
  }

  /** What Reprise itself says in the run's events. */
  async notes(id: string): Promise<string[]> {
    return (await this.eventsOf(id, 'note')).map(({ text }) => text)
  }

  async pending(id: string) {
    await this.until(async () => (await this.engine.getRun(this.#idOf(id))).pending.length > 0)
    return (await this.engine.getRun(this.#idOf(id))).pending
  }

  async until(isSo: () => Promise<boolean> | boolean, maxMs = 90_000): Promise<void> {
    const endsAt = performance.now() + maxMs
    while (!(await isSo())) {
      if (performance.now() > endsAt) throw new Error(`it did not come to that:\n${this.logged.join('\n')}`)
      await new Promise((next) => setTimeout(next, 1))
    }
  }

  /** Ends the engine as if its process had been killed. */
  async drop(): Promise<void> {
    this.life.end()
    await this.life.settle()
  }

  /** Opens another engine on the same store and processes. */
  async reopen(options: Partial<StageOptions> = {}): Promise<void> {
    Object.assign(this.#options, options)
    await this.life.settle()
    this.life = new Life()
    this.engine = createEngine(this.input())
    await this.engine.open()
  }

  async close(): Promise<void> {
    if (!this.life.isOver) await this.engine.close()
    this.life.end()
    await this.store.close()
    rmSync(this.#home, { recursive: true, force: true })
  }
}
