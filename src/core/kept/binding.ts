/**
 * The properties that a process got at its start and cannot change any more. A later turn may be given to the process only if it would
 * start one with the same binding (can-reuse.ts).
 */
import type { SandboxName } from '../../contract/sandbox.ts'

export interface Binding {
  agent: string
  agentSessionId: string
  /** The executable, and its version: an upgrade in place changes the version only. */
  runtimeId: string
  version: string
  workDir: string
  workDirId: string | null
  model: string | null
  permissions: string
  sandbox: SandboxName
  /** A hash of the arguments and the first messages, without the prompt. */
  args: string
  /** A hash of the environment. */
  env: string
  /** A fingerprint of the files that the agent reads only when it starts. */
  files: string
  /** The local date at its start: agents tell the model which day it is. */
  day: string
}
