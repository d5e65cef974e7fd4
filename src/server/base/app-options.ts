/** What the HTTP surface needs of the daemon around it. */
import type { Engine } from '../../engine/api.ts'
import type { ServerLog } from './error-response.ts'

export interface AppOptions {
  engine: Engine
  token: string
  version: string
  startedAt: string
  pid: number
  home: string
  /** Known only once it listens. */
  url: () => string
  simulatorUrl: string | null
  /** Names under which the daemon may be called, besides those of loopback. */
  allowedHosts: readonly string[]
  log: ServerLog
  /** Called once the request to shut down is answered. */
  onShutdown: () => void
  heartbeatMs?: number
}
