/**
 * Reprise for programs: every call of the API, and handles of what they start. The same over an engine in this process
 * and over a daemon.
 */
import { resolve } from 'node:path'
import { type Client, type Connection, createCalls } from '../client/client.ts'
import type { KeyOptions } from '../client/request.ts'
import type { CreateTurn } from '../contract/conversation.ts'
import type { CreateJob } from '../contract/create-job.ts'
import type { CreateRun } from '../contract/create-run.ts'
import { closedError } from './closed.ts'
import { type JobHandle, jobHandle, type RunHandle, runHandle } from './handles.ts'
import type { EngineConnection } from './in-process.ts'
import { Started } from './started.ts'
import { wrapRequests } from './wrap.ts'

export interface StartOptions extends KeyOptions {
  /** Cancels what is started. Its loop then ends with the event of its end, and `result` resolves. */
  signal?: AbortSignal | undefined
}

export interface CloseOptions {
  /** Agents continue to run, and what waits stays queued; a daemon, or the next engine on the home, takes over. */
  leaveRunning?: boolean | undefined
}

/** The work directory may be relative; without one it is the `cwd` of `openReprise`. */
type InCwd<Request extends { workDir: string }> = Omit<Request, 'workDir'> & { workDir?: string | undefined }

export type RunRequest = InCwd<CreateRun>
export type JobRequest = InCwd<CreateJob>

export interface Reprise extends Omit<Client, 'health' | 'shutdown'>, AsyncDisposable {
  /** The home whose state this is. */
  readonly home: string
  /** The daemon that is used; null: the engine is in this process. */
  readonly daemon: { readonly pid: number; readonly url: string } | null
  /** Messages for the person who runs the program, such as that file permissions were corrected. */
  readonly notices: readonly string[]
  /** Gives a prompt to an agent. Resolves when the run is stored. */
  run: (request: RunRequest, options?: StartOptions) => Promise<RunHandle>
  /** Gives a prompt to finish unattended: interruptions are followed by further attempts. */
  job: (request: JobRequest, options?: StartOptions) => Promise<JobHandle>
  /** Says something in a conversation. */
  turn: (conversation: string, turn: CreateTurn, options?: StartOptions) => Promise<RunHandle>
  /** The handle of a run that was started before, perhaps by another process. */
  attach: (run: string) => Promise<RunHandle>
  attachJob: (job: string) => Promise<JobHandle>
  /**
   * Cancels what was started here and is still active, and in an engine of this process everything that runs; resolves
   * when all of it has ended. Further calls are refused with `closed`.
   */
  close: (options?: CloseOptions) => Promise<void>
}

export interface RepriseParts {
  connection: EngineConnection
  home: string
  cwd: string
  daemon: Reprise['daemon']
  notices: readonly string[]
}

export function createReprise({ connection, home, cwd, daemon, notices }: RepriseParts): Reprise {
  const started = new Started()
  let closing: Promise<void> | null = null
  /** For handles and for closing, which may still read while this Reprise is being closed. */
  const inner = createCalls(inDirectory(connection, cwd))
  const calls = createCalls(refuseIf(() => closing !== null, started.watch(inDirectory(connection, cwd))))
  const { health: _, shutdown: __, ...shared } = calls
  const close = async ({ leaveRunning = false }: CloseOptions = {}) => {
    try {
      if (!leaveRunning) await started.cancel(inner, { wait: daemon !== null })
    } finally {
      await connection.close({ leaveRunning })
    }
  }
  const reprise: Reprise = {
    ...shared,
    home,
    daemon,
    notices,
    run: async (request, { signal, ...key } = {}) => {
      signal?.throwIfAborted()
      return runHandle(inner, await calls.createRun(request as CreateRun, key), signal)
    },
    job: async (request, { signal, ...key } = {}) => {
      signal?.throwIfAborted()
      return jobHandle(inner, (await calls.createJob(request as CreateJob, key)).id, signal)
    },
    turn: async (conversation, turn, { signal, ...key } = {}) => {
      signal?.throwIfAborted()
      return runHandle(inner, await calls.createTurn(conversation, turn, key), signal)
    },
    attach: async (id) => runHandle(inner, await calls.getRun(id)),
    attachJob: async (id) => jobHandle(inner, (await calls.getJob(id)).id),
    close: (options) => {
      closing ??= close(options)
      return closing
    },
    [Symbol.asyncDispose]: () => reprise.close(),
  }
  return reprise
}

const IN_DIRECTORY: ReadonlySet<string> = new Set([
  'createRun',
  'createJob',
  'createConversation',
  'createWatch',
])

function inDirectory(connection: Connection, cwd: string): Connection {
  return wrapRequests(connection, (request, send) => {
    const body = request.input?.body
    if (!IN_DIRECTORY.has(request.id) || typeof body !== 'object' || body === null) return send(request)
    const { workDir = '.' } = body as { workDir?: unknown }
    // Another type is refused by the schema, which says what it expects.
    if (typeof workDir !== 'string') return send(request)
    return send({
      ...request,
      input: { ...request.input, body: { ...body, workDir: resolve(cwd, workDir) } },
    })
  })
}

function refuseIf(isClosing: () => boolean, connection: Connection): Connection {
  const { streams } = connection
  return {
    ...wrapRequests(connection, async (request, send) => {
      if (isClosing()) throw closedError()
      return send(request)
    }),
    streams: {
      events: (...call) => (isClosing() ? refused() : streams.events(...call)),
      jobEvents: (...call) => (isClosing() ? refused() : streams.jobEvents(...call)),
      changes: (...call) => (isClosing() ? refused() : streams.changes(...call)),
    },
  }
}

// biome-ignore lint/correctness/useYield: it fails before the first item
async function* refused(): AsyncGenerator<never, void> {
  throw closedError()
}
