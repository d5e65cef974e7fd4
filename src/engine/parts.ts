/** What the engine is made of. Everything concrete is handed in by the composition root. */
import type { AgentRegistry } from '../agents/registry.ts'
import type { PermissionMode } from '../contract/run.ts'
import type { Clock } from '../core/clock.ts'
import type { ResumeLimits } from '../core/resume/facts.ts'
import type { Store } from '../store/store.ts'
import type { ProgressBus } from './progress.ts'

export interface EngineParts {
  store: Store
  agents: AgentRegistry
  clock: Clock
  bus: ProgressBus
  /** In [0, 1). */
  random: () => number
  log: Log
  /** Aborted when the engine lets go of everything. */
  closing: AbortSignal
  /** The folder that holds one folder per attempt. */
  spool: string
  /** The folder that keeps transcripts as they were before they were mended. */
  damaged: string
  settings: EngineSettings
}

export interface Log {
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
  error: (fields: object, message: string) => void
}

export interface EngineSettings {
  concurrency: number
  resume: ResumeLimits
  sessionIdleMs: number
  permissions: PermissionMode
  maxDurationMs: number
  idleTimeoutMs: number
  hangAfterResultMs: number
  questionTimeoutMs: number
  termAfterMs: number
  killAfterMs: number
  maxOutputBytes: number
  maxLineBytes: number
  /** How long an ended attempt's raw output is kept. */
  keepSpoolMs: number
}
