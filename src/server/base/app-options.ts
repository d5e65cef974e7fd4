/** What the HTTP server needs from the daemon. */
import type { Changes, Engine } from '../../engine/api.ts'
import type { ServerLog } from './error-response.ts'

export interface AppOptions {
  engine: Engine
  /** Without it, `GET /api/changes` is answered with `not-found`. */
  changes?: Changes | undefined
  token: string
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
  log: ServerLog
  /** Called after the response to a shutdown request. */
  onShutdown: () => void
  heartbeatMs?: number
}
