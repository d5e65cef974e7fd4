/**
 * What is known of one call, on disk, in a folder that the agent cannot see. Each file is written once, in this order:
 *
 *   request        the copy of what the shim asked; only the copy is judged and run
 *   verdict        the decision; the first one counts
 *   told-decided   the engine knows of the verdict
 *   claim          created exclusively by the runner before it starts the program: its pid and start time; or by a desk, to make
 *                  sure that the program is never started: `revoked REASON`
 *   gone           the caller has died, so the runner ends the program
 *   exit           the exit code, by the runner; or `unknown REASON`, by a desk, when the runner has died
 *   log            what the runner itself had to say
 *
 * When the engine knows of the end, the folder is removed. A caller cannot survive the machine: after a reboot nothing is
 * started any more, and what might have been started just before has an unknown outcome.
 */
import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ProcessIdentity, readBootId } from '../proc.ts'
import { isCallId, type ShimRequest } from './asked-folder.ts'
import type { CallEnd, Verdict } from './call.ts'

/** At the end of the name of a folder that is being removed. */
const OVER = '.over'

export interface StoredRequest extends ShimRequest {
  bootId: string
}

export type Progress =
  /** Another desk has seen the end of it. */
  | { at: 'removed' }
  | { at: 'unclaimed' }
  /** null: the runner is just writing its name, or died while it did. */
  | { at: 'claimed'; runner: ProcessIdentity | null }
  | { at: 'ended'; end: CallEnd; durationMs: number | null }

export class CallFolder {
  readonly id: string
  readonly path: string
  readonly request: StoredRequest

  private constructor(dir: string, id: string, request: StoredRequest) {
    this.id = id
    this.path = join(dir, id)
    this.request = request
  }

  /** Copies a request. Returns null if the call has a folder already. */
  static create(dir: string, id: string, request: ShimRequest): CallFolder | null {
    const path = join(dir, id)
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return null
      throw error
    }
    const stored = { ...request, bootId: readBootId() }
    const draft = join(path, 'request.new')
    writeFileSync(draft, JSON.stringify(stored), { mode: 0o600 })
    renameSync(draft, join(path, 'request'))
    return new CallFolder(dir, id, stored)
  }

  /**
   * The calls that an earlier desk has left. Folders without a request are removed: either the shim's own request is still there,
   * or a power failure has taken both.
   */
  static openAll(dir: string): CallFolder[] {
    const names = list(dir)
    for (const name of names)
      if (name.endsWith(OVER)) rmSync(join(dir, name), { recursive: true, force: true })
    return names.filter(isCallId).flatMap((id) => {
      const request = parseRequest(read(join(dir, id, 'request')))
      if (request !== null) return [new CallFolder(dir, id, request)]
      rmSync(join(dir, id), { recursive: true, force: true })
      return []
    })
  }

  verdict(): Verdict | null {
    const text = this.#read('verdict')
    return text === null ? null : JSON.parse(text)
  }

  /** Returns the verdict that counts. It survives a power failure. */
  async writeVerdict(verdict: Verdict): Promise<Verdict> {
    const draft = join(this.path, `verdict.${process.pid}`)
    writeFileSync(draft, JSON.stringify(verdict), { mode: 0o600 })
    await Promise.all([sync(draft), sync(join(this.path, 'request'))])
    try {
      linkSync(draft, join(this.path, 'verdict'))
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    rmSync(draft)
    await sync(this.path)
    return this.verdict() ?? verdict
  }

  get isDecisionTold(): boolean {
    return this.#read('told-decided') !== null
  }

  markDecisionTold(): void {
    writeFileSync(join(this.path, 'told-decided'), '', { mode: 0o600 })
  }

  progress(): Progress {
    const claim = this.#read('claim')
    if (claim === null) {
      if (this.#read('request') === null) return { at: 'removed' }
      if (this.request.bootId === readBootId()) return { at: 'unclaimed' }
      const reason = 'the machine was restarted'
      return { at: 'ended', end: { kind: 'unknown', reason }, durationMs: null }
    }
    const end = parseEnd(this.#read('exit')) ?? parseRevoked(claim)
    if (end) {
      const durationMs = end.kind === 'exited' ? this.#writtenAt('exit') - this.#writtenAt('claim') : null
      return { at: 'ended', end, durationMs }
    }
    const [, pid, startTicks] = /^(\d+) (\d+)\n/.exec(claim) ?? []
    if (pid !== undefined && startTicks !== undefined)
      return { at: 'claimed', runner: { pid: Number(pid), startTicks, bootId: this.request.bootId } }
    return { at: 'claimed', runner: null }
  }

  claimedAt(): number {
    return this.#writtenAt('claim')
  }

  /** Makes sure that the program is never started. Returns false if it has been claimed before. */
  revoke(reason: string): boolean {
    return this.#createExclusively('claim', `revoked ${oneLine(reason)}\n`)
  }

  /** Of a call whose runner is dead. */
  markUnknown(reason: string): void {
    this.#createExclusively('exit', `unknown ${oneLine(reason)}\n`)
  }

  /** The last line that the runner wrote. */
  readLog(): string {
    return this.#read('log')?.trim().split('\n').at(-1) ?? ''
  }

  /** Renamed first: a folder that lacks some of its files would tell something else. */
  remove(): void {
    try {
      renameSync(this.path, this.path + OVER)
    } catch {
      // Another desk has removed it.
    }
    rmSync(this.path + OVER, { recursive: true, force: true })
  }

  #createExclusively(name: string, text: string): boolean {
    try {
      writeFileSync(join(this.path, name), text, { flag: 'wx', mode: 0o600 })
      return true
    } catch {
      // It exists, or another desk has removed the folder.
      return false
    }
  }

  #read(name: string): string | null {
    return read(join(this.path, name))
  }

  #writtenAt(name: string): number {
    return statSync(join(this.path, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  }
}

function parseRequest(text: string | null): StoredRequest | null {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** null: not ended, or the file is just being written. */
function parseEnd(text: string | null): CallEnd | null {
  if (!text?.endsWith('\n')) return null
  const [, unknown] = /^unknown (.*)\n/.exec(text) ?? []
  if (unknown !== undefined) return { kind: 'unknown', reason: unknown }
  const [, code, gone] = /^(\d+)( gone)?\n/.exec(text) ?? []
  return code === undefined ? null : { kind: 'exited', code: Number(code), callerGone: gone !== undefined }
}

function parseRevoked(claim: string): CallEnd | null {
  const [, reason] = /^revoked (.*)\n/.exec(claim) ?? []
  return reason === undefined ? null : { kind: 'not-started', reason }
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** A file or a folder. Only the call that may take long is asynchronous: a caller waits for each change of threads. */
async function sync(path: string): Promise<void> {
  const file = openSync(path, 'r')
  try {
    await promisify(fsync)(file)
  } finally {
    closeSync(file)
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code
