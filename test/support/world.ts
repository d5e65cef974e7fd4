/**
 * An isolated world for a test: a simulator, a home, a work directory, and daemons that are real processes. The
 * machine's own configuration and credentials are hidden, and only loopback is used. `close` fails if a process that
 * was started in this world is still alive.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { RunEvent } from '../../src/contract/events.ts'
import type { Run, RunDetail } from '../../src/contract/run.ts'
import type { DirectoryTrust } from '../../src/contract/trust.ts'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import { type Simulator, startSimulator } from '../../src/simulator/server.ts'
import { killIfThere, parentOf } from './processes.ts'

const ROOT = resolve(import.meta.dirname, '../..')
export const REPRISE = join(ROOT, 'bin', 'reprise')

export class World {
  readonly dir: string
  readonly home: string
  /** The home as the test sees it: another path if the daemon has mounts of its own. */
  homeSeen: string
  readonly workDir: string
  readonly configDir: string
  readonly simulator: Simulator
  readonly env: Record<string, string>
  #daemon: ChildProcess | null = null

  private constructor(dir: string, simulator: Simulator) {
    this.dir = dir
    this.home = join(dir, 'reprise')
    this.homeSeen = this.home
    this.workDir = join(dir, 'work')
    this.configDir = join(dir, 'claude')
    this.simulator = simulator
    this.env = {
      PATH: process.env.PATH ?? '',
      // The cache of the tests, because this world's own would be empty; nothing is cached if it is not set.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      HOME: dir,
      REPRISE_HOME: this.home,
      REPRISE_PORT: '0',
      // `REPRISE_TEST_SANDBOX=bubblewrap` tests the sandbox that root does not get by default.
      REPRISE_SANDBOX_KIND: process.env.REPRISE_TEST_SANDBOX ?? '',
      CLAUDE_CONFIG_DIR: this.configDir,
      ANTHROPIC_API_KEY: 'made-up',
      ANTHROPIC_BASE_URL: simulator.url,
      // A failing request is retried only once or twice, so that outcomes come in seconds.
      CLAUDE_CODE_MAX_RETRIES: '1',
      NO_PROXY: '127.0.0.1',
    }
  }

  /** `base` is where the world is. What a sandbox hides must be elsewhere than in /tmp, which is always private there. */
  static async create(scenario: ScenarioInput, config: object = {}, base = tmpdir()): Promise<World> {
    const dir = await realpath(await mkdtemp(join(base, 'reprise-')))
    const world = new World(dir, await startSimulator({ scenario }))
    await mkdir(world.home, { mode: 0o700 })
    await mkdir(world.workDir)
    await world.configure(config)
    return world
  }

  /** JSON is valid YAML. */
  async configure(config: object): Promise<void> {
    const merged = {
      agents: { claude: { model: 'haiku' } },
      // Most tests are about the start and the end of processes, so none is kept unless a test asks for it.
      conversations: { keepWarm: '0s' },
      run: { termAfter: '1s', killAfter: '1s' },
      ...config,
    }
    await writeFile(join(this.home, 'config.yaml'), JSON.stringify(merged))
  }

  /** Resolves when the daemon answers. */
  async startDaemon({
    fileSizeLimit,
    program = [REPRISE, 'up', '--foreground'],
  }: {
    fileSizeLimit?: number
    program?: readonly string[]
  } = {}): Promise<void> {
    // A limit on file sizes simulates a disk that refuses writes, without root and without a full disk.
    const limited = `trap '' XFSZ; ulimit -f ${Math.ceil((fileSizeLimit ?? 0) / 512)}; exec "$0" "$@"`
    const child = spawn('/bin/sh', ['-c', fileSizeLimit ? limited : 'exec "$0" "$@"', ...program], {
      cwd: this.dir,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#daemon = child
    let said = ''
    this.log = () => said
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    await new Promise<void>((ready, fail) => {
      child.stdout.on('data', (chunk) => {
        said += chunk
        if (/https?:\/\//.test(said)) ready()
      })
      child.once('exit', (code) => fail(new Error(`the daemon ended with ${code}:\n${said}`)))
    })
  }

  /** The output of the daemon. */
  log: () => string = () => ''

  get daemonPid(): number {
    return this.#daemon?.pid ?? 0
  }

  async killDaemon(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#daemon
    this.#daemon = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  /** Resolves when the daemon has died by itself. */
  async daemonDeath(): Promise<void> {
    const child = this.#daemon
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#daemon = null
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const { url } = JSON.parse(readFileSync(join(this.homeSeen, 'daemon.json'), 'utf8')) as { url: string }
    const token = readFileSync(join(this.homeSeen, 'token'), 'utf8').trim()
    return fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  }

  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.request(method, path, body)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as T
  }

  /** Trusts the settings of the work directory as they are now. */
  async trust(dir = this.workDir): Promise<void> {
    const { digest } = await this.api<DirectoryTrust>('GET', `/api/trust?dir=${encodeURIComponent(dir)}`)
    await this.api('POST', '/api/trust/decisions', { dir, digest, decision: 'trust' })
  }

  createRun(request: Partial<CreateRun> & { prompt: string }): Promise<Run> {
    return this.api('POST', '/api/runs', { workDir: this.workDir, ...request })
  }

  getRun(id: string): Promise<RunDetail> {
    return this.api('GET', `/api/runs/${id}`)
  }

  /** Follows the run's events up to the first that matches. */
  async waitForEvent(id: string, fits: (event: RunEvent) => boolean): Promise<RunEvent> {
    const response = await this.request('GET', `/api/runs/${id}/events`, undefined, {
      accept: 'application/x-ndjson',
    })
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = line === '' ? null : (JSON.parse(line) as RunEvent)
        if (event && fits(event)) return event
      }
    }
    throw new Error(`run ${id} ended without the event that was waited for`)
  }

  async settled(id: string): Promise<RunDetail> {
    await this.waitForEvent(id, (event) => event.type === 'run-end')
    return this.getRun(id)
  }

  async run(request: Partial<CreateRun> & { prompt: string }): Promise<RunDetail> {
    return this.settled((await this.createRun(request)).id)
  }

  async events(id: string): Promise<RunEvent[]> {
    const response = await this.request('GET', `/api/runs/${id}/events?follow=false`, undefined, {
      accept: 'application/x-ndjson',
    })
    const text = await response.text()
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RunEvent)
  }

  /**
   * Sets a stored time to now, so that no test waits for it or depends on how long agents take; the statement has a
   * placeholder for it. Returns it.
   */
  changeStored(statement: string): number {
    const database = new DatabaseSync(join(this.home, 'reprise.db'), { timeout: 10_000 })
    const now = Date.now()
    database.prepare(statement).run(now)
    database.close()
    return now
  }

  /** Live processes that were started in this world, without the daemon. */
  processes(): { pid: number; command: string }[] {
    return readdirSync('/proc').flatMap((name) => {
      const pid = Number(name)
      if (!Number.isInteger(pid) || pid === process.pid || pid === this.#daemon?.pid) return []
      try {
        const environ = readFileSync(`/proc/${pid}/environ`, 'latin1')
        if (!`\0${environ}\0`.includes(`\0HOME=${this.dir}\0`)) return []
        return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ') }]
      } catch {
        return []
      }
    })
  }

  /**
   * Live agents. A process that an agent has forked has the agent's command line until it starts a program of its own: it
   * is recognised by its parent.
   */
  agents(): { pid: number; command: string }[] {
    const found = this.processes().filter(
      ({ command }) =>
        /claude.* -p /.test(command) && !/keeper|unshare|bwrap|setpriv|sandbox-init/.test(command),
    )
    return found.filter(({ pid }) => !found.some((other) => other.pid === parentOf(pid)))
  }

  async close(): Promise<void> {
    await this.killDaemon('SIGTERM')
    const left = this.processes()
    for (const { pid } of left) killIfThere(pid)
    await this.simulator.close()
    await rm(this.dir, { recursive: true, force: true })
    if (left.length > 0)
      throw new Error(`left running: ${left.map((p) => `${p.pid} ${p.command}`).join('\n')}`)
  }
}

/**
 * Polls what gives no signal of its own (a file, the process table). On a busy machine a process may take long to
 * start: the limit is only for what never happens.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  timeoutMs = 150_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline)
      throw new Error(`gave up waiting for ${what} after ${timeoutMs / 1000} s`)
    await new Promise((next) => setTimeout(next, 20))
  }
}
