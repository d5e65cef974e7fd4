/** The entry `reprise`: the engine in process. It loads on any Node, so that an old one gets a sentence. */
import './node-version.ts'
import type { OpenOptions } from './options.ts'
import type { Reprise } from './reprise.ts'

/**
 * Opens Reprise: the engine in this process, on the database of the home. If a daemon runs on that home, it is used
 * instead, or refused, as asked.
 */
export async function openReprise(options?: OpenOptions): Promise<Reprise> {
  const { openReprise: open } = await import('./open.ts')
  return open(options)
}

export * from '../contract/public.ts'
export type { JobHandle, RunHandle } from './handles.ts'
export type { LogCallback, LogEntry } from './log.ts'
export type { OpenOptions } from './options.ts'
export type { CloseOptions, JobRequest, Reprise, RunRequest, StartOptions } from './reprise.ts'
