/**
 * Processes in memory. They outlive the engine that started them, as real ones do: another engine that is given the same
 * processes finds them, reads what they printed and ends them.
 */
import { join } from 'node:path'
import { RepriseError } from '../../../src/contract/errors.ts'
import type { Processes } from '../../../src/engine/base/processes.ts'
import { followMemory } from './output.ts'
import { MemoryProcess } from './process.ts'
import { answers, type Script, type Start } from './script.ts'
import type { MemoryTranscripts } from './transcripts.ts'

/** Longer than a script takes to act on what it was told. */
const giveTime = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((next) => setImmediate(next))
}

export class MemoryProcesses implements Processes {
  readonly #root: string
  readonly #transcripts: MemoryTranscripts
  readonly #byAttempt = new Map<string, MemoryProcess>()
  /** What the agents that are started next do. */
  readonly scripts: Script[] = []
  #launchFailure: string | null = null

  /** `root` is where the folders would be; only guards are really put there. */
  constructor(root: string, transcripts: MemoryTranscripts) {
    this.#root = root
    this.#transcripts = transcripts
  }

  /** What the next agents that are started do, one after the other. */
  play(...scripts: Script[]): void {
    this.scripts.push(...scripts)
  }

  failLaunch(message: string): void {
    this.#launchFailure = message
  }

  /** In the order in which they were prepared. */
  all(): MemoryProcess[] {
    return [...this.#byAttempt.values()]
  }

  /** What each agent was started with. */
  starts(): Start[] {
    return this.all().flatMap(({ start }) => (start ? [start] : []))
  }

  /** Everything that the session of the newest agent was ever given. */
  given(): string {
    const sessionId = this.starts().at(-1)?.agentSessionId
    const ofSession = this.all().filter(({ start }) => start?.agentSessionId === sessionId)
    return ofSession.flatMap(({ given }) => given).join('\n')
  }

  of(attemptId: string): MemoryProcess {
    const known = this.#byAttempt.get(attemptId)
    if (known) return known
    const made = new MemoryProcess(1_000_000_000 + this.#byAttempt.size)
    this.#byAttempt.set(attemptId, made)
    return made
  }

  readonly #in = ({ path }: { path: string }) => this.of(path.slice(path.lastIndexOf('/') + 1))
  readonly #by = ({ pid }: { pid: number }) => this.all().find((process) => process.pid === pid)

  folderOf: Processes['folderOf'] = (attemptId) => {
    const path = join(this.#root, attemptId)
    return { path, out: join(path, 'out'), err: join(path, 'err') }
  }

  prepare: Processes['prepare'] = (dir, messages) => {
    for (const { id, line } of messages) this.#in(dir).feed(id, line)
  }

  readSeed: Processes['readSeed'] = () => ({})

  launch: Processes['launch'] = async ({ attemptId, args }) => {
    if (this.#launchFailure !== null) throw new RepriseError('agent-unavailable', this.#launchFailure)
    const process = this.of(attemptId)
    if (!process.claimed) {
      const start: Start = JSON.parse(args[0] ?? '')
      process.run(this.scripts.shift() ?? answers('done'), start, this.#transcripts)
    }
    return process.identity
  }

  revoke: Processes['revoke'] = async (dir) => {
    const process = this.#in(dir)
    const first = !process.claimed
    process.claimed = true
    return first
  }

  findKeeper: Processes['findKeeper'] = (dir, attemptId) => this.readKeeper(dir, attemptId)
  readKeeper: Processes['readKeeper'] = async (dir) => {
    const process = this.#in(dir)
    return process.alive ? process.identity : null
  }
  isAlive: Processes['isAlive'] = (identity) => this.#by(identity)?.alive ?? false
  isOfOther: Processes['isOfOther'] = (identity) => {
    const process = this.#by(identity)
    return process?.alive === true && process.ofOther
  }
  attemptOf: Processes['attemptOf'] = (pid) => {
    for (const [attemptId, process] of this.#byAttempt) if (process.pid === pid) return attemptId
    return null
  }

  follow: Processes['follow'] = (dir, _keeper, offset) => followMemory(this.#in(dir), offset)
  sizeOf: Processes['sizeOf'] = async (dir) => this.#in(dir).out.length
  lastWriteOf: Processes['lastWriteOf'] = async (dir) => this.#in(dir).wroteAt
  readStderrTail: Processes['readStderrTail'] = async (dir) => this.#in(dir).err

  deliver: Processes['deliver'] = async (dir, { id, line }) => this.#in(dir).feed(id, line)
  closeInput: Processes['closeInput'] = async (dir) => this.#in(dir).closeInput()
  hasMessage: Processes['hasMessage'] = (dir, id) => this.#in(dir).wasGiven(id)
  poke: Processes['poke'] = () => {}

  /** How much memory each process uses, and the machine has left. */
  bytesEach = 100
  memory = { availableBytes: 900, totalBytes: 1000, stalledPercent: 0 }
  memoryOf: Processes['memoryOf'] = async () => this.bytesEach
  readMemory: Processes['readMemory'] = async () => this.memory

  end: Processes['end'] = async ({ attemptId, keeper, farewell, farewellMs, killMs }) => {
    const process = this.of(attemptId)
    if (process.alive) {
      await farewell()
      if (farewellMs > 0) await giveTime()
      if (process.ignoresTerm) process.kill()
      else process.exit(143)
    }
    return this.endStrays(attemptId, keeper, killMs)
  }

  endStrays: Processes['endStrays'] = async (attemptId) => {
    const process = this.of(attemptId)
    const strays = process.strays + (process.alive ? 1 : 0)
    process.strays = 0
    process.kill()
    return { strays, survivors: [] }
  }

  goneWithin: Processes['goneWithin'] = async (processes) => !processes.some(this.isAlive)
}
