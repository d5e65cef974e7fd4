/** One agent's process in memory: its input and output, and how it ends. */
import { KILLED, type Script, ScriptedAgent, type Start } from './script.ts'
import type { MemoryTranscripts } from './transcripts.ts'

export class MemoryProcess {
  readonly pid: number
  start: Start | null = null
  out = Buffer.alloc(0)
  err = ''
  wroteAt: Date | null = null
  /** Claimed by a keeper, or revoked: it can be started once. */
  claimed = false
  alive = false
  exitCode: number | null = null
  /** Works for the home of which this one is a copy. */
  ofOther = false
  ignoresTerm = false
  strays = 0
  /** All messages that it was given. */
  readonly given: string[] = []
  readonly #ids = new Set<string>()
  readonly #unread: (string | null)[] = []
  readonly #watchers = new Set<() => void>()
  #wakeReader: (() => void) | null = null

  constructor(pid: number) {
    this.pid = pid
  }

  get identity() {
    return { pid: this.pid, startTicks: '1', bootId: 'memory' }
  }

  feed(id: string, line: string): void {
    if (this.#ids.has(id)) return
    this.#ids.add(id)
    this.given.push(line)
    this.#push(line)
  }

  wasGiven(id: string): boolean {
    return this.#ids.has(id)
  }

  closeInput(): void {
    this.#push(null)
  }

  #push(line: string | null): void {
    this.#unread.push(line)
    this.#wakeReader?.()
  }

  async #nextLine(): Promise<string | null> {
    while (this.#unread.length === 0) await new Promise<void>((wake) => (this.#wakeReader = wake))
    const [line = null] = this.#unread
    // A closed input stays closed.
    if (line !== null) this.#unread.shift()
    return line
  }

  run(script: Script, start: Start, transcripts: MemoryTranscripts): void {
    this.start = start
    this.claimed = this.alive = true
    const write = (change: () => void) => {
      if (!this.alive) return
      change()
      this.wroteAt = new Date()
      this.notify()
    }
    const agent = new ScriptedAgent(
      start,
      {
        print: (text) => write(() => (this.out = Buffer.concat([this.out, Buffer.from(text)]))),
        complain: (text) => write(() => (this.err += text)),
        nextLine: () => this.#nextLine(),
        ignoreTerm: () => (this.ignoresTerm = true),
        leaveStray: () => this.strays++,
      },
      transcripts,
    )
    script(agent).then(
      (code) => (code === KILLED ? this.kill() : this.exit(code ?? 0)),
      () => this.exit(70),
    )
  }

  /** The agent ends, and its keeper writes down how. */
  exit(code: number): void {
    if (!this.alive) return
    this.alive = false
    this.exitCode = code
    this.wroteAt = new Date()
    this.notify()
  }

  /** The agent and its keeper are killed: nobody writes down how it ended. */
  kill(): void {
    this.alive = false
    this.notify()
  }

  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  notify(): void {
    for (const watcher of this.#watchers) watcher()
  }
}
