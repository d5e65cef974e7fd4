/** What the HTTP server needs from the daemon. */
import type { Access, Changes, Engine } from '../../engine/api.ts'
import type { ServerLog } from './error-response.ts'
import type { StreamLimits } from './open-streams.ts'

export interface AppOptions {
  engine: Engine
  /** Without it, `GET /api/changes` is answered with `not-found`. */
  changes?: Changes | undefined
  /** The token of the command line. Used only without `access`. */
  token: string
  /** Tokens and sign-ins. Without it, only `token` is accepted. */
  access?: Access | undefined
  /** The folder with the files of the dashboard. Without it, there is none. */
  webDir?: string | undefined
  /** The configuration in force, without values that may be secret. */
  configuration?: { settings: unknown; sources: string[] } | undefined
  version: string
  startedAt: string
  pid: number
  home: string
  /** False if the home has been removed, renamed or replaced: the daemon is about to end. */
  isHomeInPlace: () => boolean
  /** Known only after the server has started to listen. */
  url: () => string
  simulatorUrl: string | null
  /** Host names by which the daemon may be called, besides those of loopback. */
  allowedHosts: readonly string[]
  /** The address of the page behind a proxy. Its host name is allowed too. */
  publicUrl?: string | undefined
  /** Addresses from which `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
  trustedProxies?: readonly string[] | undefined
  log: ServerLog
  /** Called after the response to a shutdown request. */
  onShutdown: () => void
  heartbeatMs?: number
  streamLimits?: StreamLimits
}
