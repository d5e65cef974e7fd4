/** The two sides of the engine: the parts it is made of, and the interface of the assembled engine. */
import type { AgentRegistry } from '../agents/registry.ts'
import type { Redactor } from '../core/redact/redactor.ts'
import type { SteadyClock } from '../core/steady-clock.ts'
import type { BrokerHost } from '../process/broker/host.ts'
import type { Git } from '../process/git/run.ts'
import type { Handling } from '../process/handling.ts'
import type { SandboxHost } from '../process/sandbox/host.ts'
import type { Store } from '../store/store.ts'
import type { Engine } from './api.ts'
import type { Disks } from './base/disk-space.ts'
import type { Log } from './base/log.ts'
import type { Notifications } from './base/notifications.ts'
import type { Processes } from './base/processes.ts'
import type { ProgressBus } from './base/progress.ts'
import type { EngineSettings } from './base/settings.ts'
import type { FurtherPurposes } from './purposes.ts'
import type { QueryEngine } from './queries/api.ts'
import type { ReadingThread } from './supervise/reading/thread.ts'
import type { ProjectFile } from './trust/project.ts'

/** The concrete parts that the composition root provides. */
export interface EngineInput {
  store: Store
  agents: AgentRegistry
  clock: SteadyClock
  git: Git
  bus: ProgressBus
  notifications: Notifications
  /** In [0, 1). */
  random: () => number
  log: Log
  /** Applied to texts that other agents or people will read. Stored events are always redacted. */
  redactor: Redactor
  /** Parses the output of agents that print too much for the main thread. */
  readingThread: ReadingThread
  /** Starts, feeds, follows and ends agents. */
  processes: Processes
  /** Notes of what is being handled, for the daemon after one that dies of it. */
  handling: Handling
  /** The directory with one folder per attempt. */
  spool: string
  /** The disks that are watched. */
  disks: Disks
  /** The directory with copies of transcripts from before they were repaired. */
  damaged: string
  /** The directory with the copies of session files. */
  mirror: string
  /** The directory in which earlier versions kept the transcripts of jobs. */
  archive: string
  /** The directory in which imported sessions are received and verified. */
  imports: string
  /** The directory with one folder per session of the provider. */
  agentSessions: string
  /** The directory with state files that agents at tiers may read. */
  stateDir: string
  /** The sandbox of this machine. */
  sandbox: SandboxHost
  /** Runs programs that act on the world on behalf of agents in a sandbox. */
  broker: BrokerHost
  /** The directory with one folder per session that is used in a sandbox. */
  sandboxes: string
  /** Paths of Reprise itself, which no agent in a sandbox sees. */
  ownPaths: readonly string[]
  /** Paths that no agent at a tier may change, whatever its rules say. */
  protectedPaths: readonly string[]
  /** Paths that no agent at a tier may read, besides credentials and sockets. */
  hiddenPaths: readonly string[]
  settings: EngineSettings
  /** Reads Reprise's own settings in a work directory. null: there are none. */
  readProject: (workDir: string) => Promise<ProjectFile | null>
  purposes?: FurtherPurposes
}

export interface RunningEngine extends Engine, QueryEngine {
  /** Adopts open processes, then starts queued runs. */
  open: () => Promise<{ adopted: number }>
  /**
   * Starts nothing more, ends the processes that wait for a turn, and detaches from the others: those agents continue
   * by themselves until an engine adopts them. With `leaveRunning: false` the runs that have a process are cancelled first, and their ends are stored.
   */
  close: (options?: { leaveRunning: boolean }) => Promise<void>
}
