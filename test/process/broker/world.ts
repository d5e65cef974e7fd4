/**
 * A sandbox, or none, with shims inside and real programs outside. `tool` is a program that evaluates its first argument as
 * shell text, outside, and notes that it ran. When a test is over, nothing may be left running.
 */
import type { ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { BrokerCall, BrokerEvent, Verdict } from '../../../src/process/broker/call.ts'
import { type Broker, type BrokerInput, openBroker } from '../../../src/process/broker/desk.ts'
import { endCalls } from '../../../src/process/broker/end-calls.ts'
import { findSandboxRoot } from '../../../src/process/broker/sandbox-root.ts'
import { installShims } from '../../../src/process/broker/shims.ts'
import { findProcesses } from '../../../src/process/proc.ts'
import { isRunning, readProc } from '../../support/processes.ts'
import { eventually, leavesNothing } from '../attempts.ts'
import { type Variant, variants } from '../sandbox/available.ts'
import { Box, collect, type Ended, type StartOptions } from '../sandbox/box.ts'

const SELF = { name: 'this user', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

/** Without a sandbox the shims work the same way, only the barrier is missing. */
const withoutSandbox: Variant = { title: 'without a sandbox', means: { kind: 'none' }, user: SELF }

/** Without a sandbox the shims work the same: shown where there is none, and by `npm run test:all`. */
const plain = variants.length === 0 || process.env.REPRISE_TEST_ALL ? [withoutSandbox] : []
export const brokered = [...plain, ...variants.filter(({ user }) => user.uid === SELF.uid)]

export const brokeredForEveryone = [...plain, ...variants]

/** Present in the environment of everything that the broker starts in these tests. */
const MARK = 'BROKER_TEST'

export class World {
  readonly box: Box
  readonly shared: string
  readonly asked: string
  readonly private: string
  readonly programs: Map<string, string>
  readonly events: BrokerEvent[] = []
  #sandbox: ChildProcess | null = null

  constructor({ means, user }: Variant) {
    this.box = new Box(means, user)
    const { dir } = this.box
    this.shared = join(dir, "broker's folder")
    this.private = join(dir, 'private')
    this.programs = new Map([
      ['tool', this.addProgram('tool', `echo "$1" >>'${this.#ranFile}'\ntext=$1\nshift\neval "$text"`)],
      ['missing', join(dir, 'outside-bin', 'missing')],
    ])
    mkdirSync(this.private, { mode: 0o700 })
    mkdirSync(this.shared)
    this.asked = installShims(this.shared, this.programs.keys()).asked
    for (const path of [this.shared, this.private]) this.#own(path)
    onTestFinished(({ task }) => this.#close(task.result?.state === 'fail'))
  }

  get #ranFile(): string {
    return join(this.box.dir, 'ran')
  }

  #own(path: string): void {
    chownSync(path, this.box.user.uid, this.box.user.gid)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) this.#own(join(path, name))
  }

  addProgram(name: string, text: string): string {
    const folder = join(this.box.dir, 'outside-bin')
    mkdirSync(folder, { recursive: true })
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }

  /** The texts that `tool` was called with, once for each time it ran. */
  ran(): string[] {
    return existsSync(this.#ranFile) ? readFileSync(this.#ranFile, 'utf8').split('\n').slice(0, -1) : []
  }

  /** What the agent would run; `tool` is on PATH. */
  start(script: string, options: StartOptions = {}): ChildProcess {
    const input = this.box.input()
    const child = this.box.start(['sh', '-c', `cd "$WORK" || exit\n${script}`], {
      ...options,
      env: {
        PATH: `${join(this.shared, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
        ASKED: this.asked,
        PRIVATE: this.private,
        ...options.env,
      },
      input: {
        writable: [...input.writable, this.asked],
        hidden: [...input.hidden, `${this.private}/`],
        ...options.input,
      },
    })
    this.#sandbox = child
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }

  run(script: string, options: StartOptions = {}): Promise<Ended> {
    return collect(this.start(script, options))
  }

  allow = (call: BrokerCall): Verdict => ({
    decision: 'run',
    program: call.path,
    args: call.args,
    cwd: this.box.outside,
    env: this.#env,
  })

  get #env() {
    return { PATH: '/usr/bin:/bin', [MARK]: this.box.id }
  }

  /** For a desk in a process of its own. */
  deskOptions() {
    return {
      shared: this.shared,
      private: this.private,
      programs: [...this.programs],
      keeper: this.box.means.kind === 'none' ? null : (this.#sandbox?.pid ?? null),
      cwd: this.box.outside,
      env: this.#env,
    }
  }

  input(changes: Partial<BrokerInput> = {}): BrokerInput {
    return {
      shared: this.shared,
      private: this.private,
      programs: this.programs,
      sandboxRootPid: async () => this.rootPid(),
      decide: async (call) => this.allow(call),
      onEvent: (event) => void this.events.push(event),
      ...changes,
    }
  }

  rootPid(): number | null {
    if (this.box.means.kind === 'none') return process.pid
    return this.#sandbox?.pid === undefined ? null : findSandboxRoot(this.#sandbox.pid)
  }

  open(changes: Partial<BrokerInput> = {}): Broker {
    const broker = openBroker(this.input(changes))
    onTestFinished(() => broker.close())
    return broker
  }

  /** The ends of calls that have been told, in order. */
  ends() {
    return this.events.flatMap((event) => (event.type === 'ended' ? [event.end] : []))
  }

  /** The folder of the only call, as soon as it has one. */
  async onlyCall(): Promise<string> {
    await eventually(() => expect(readdirSync(this.private)).toHaveLength(1))
    return join(this.private, readdirSync(this.private)[0] ?? '')
  }

  /** The shim of the only call, as seen from outside. */
  async shimPid(): Promise<number> {
    let found: number | undefined
    await eventually(() => {
      found = findProcesses(this.box.id)
        .map(({ pid }) => pid)
        .find((pid) => readProc(pid, 'cmdline').startsWith(`/bin/sh\0${this.shared}/bin/`))
      expect(found).toBeDefined()
    })
    return found ?? 0
  }

  /** Processes outside that the broker started for this world. */
  running(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter(
        (pid) => pid > 0 && readProc(pid, 'environ').includes(`${MARK}=${this.box.id}`) && isRunning(pid),
      )
  }

  async #close(hasFailed: boolean): Promise<void> {
    await endCalls(this.private, 100)
    const callers = () => findProcesses(this.box.id).map(({ pid }) => pid)
    try {
      await leavesNothing(() => [...this.running(), ...callers()], hasFailed)
    } finally {
      this.box.close()
    }
  }
}
