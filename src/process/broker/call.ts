/** What is said between the broker and the engine. */

/** A call of a program by an agent, as the shim described it. Only `id` and `path` do not come from the agent. */
export interface BrokerCall {
  id: string
  /** The name of the shim, such as `docker`. */
  program: string
  /** The real program outside. */
  path: string
  args: readonly string[]
  /** The working directory, as seen in the sandbox. */
  cwd: string
  /** The pid of the shim, as seen in the sandbox. */
  pid: number
}

export type Verdict =
  | { decision: 'deny'; reason: string }
  | {
      decision: 'run'
      /** An absolute path. */
      program: string
      args: readonly string[]
      /** A folder outside. */
      cwd: string
      /** The whole environment of the program. */
      env: Readonly<Record<string, string>>
      /** One line for the shim, given to it with the exit code. */
      after?: string
    }

export type CallEnd =
  /** A program that was ended by a signal has 128 + its number. `callerGone`: it was ended because its caller had died. */
  | { kind: 'exited'; code: number; callerGone: boolean }
  /** It was not started and never will be. */
  | { kind: 'not-started'; reason: string }
  /** It was started, or may have been; how it ended is not known. It is not started again. */
  | { kind: 'unknown'; reason: string }

/** Every event is told at least once, and may be told again after a restart: `call.id` and `type` identify it. */
export type BrokerEvent =
  | { type: 'decided'; call: BrokerCall; verdict: Verdict }
  /** Not told of a call that was denied. */
  | { type: 'ended'; call: BrokerCall; end: CallEnd; durationMs: number | null }
