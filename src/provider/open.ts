/** Opens the engine that a provider works on. It is its own: a daemon on the same home is refused. */
import { RepriseError } from '../contract/errors.ts'
import type { RunningEngine } from '../engine/engine-input.ts'
import { compose } from '../library/compose.ts'
import { findDaemon } from '../library/find-daemon.ts'
import { createCallbackLog } from '../library/log.ts'
import { type OpenOptions, resolveOptions } from '../library/options.ts'

export interface OpenedEngine {
  engine: RunningEngine
  home: string
  log: ReturnType<typeof createCallbackLog>
  close: () => Promise<void>
}

export async function openEngine(options: OpenOptions): Promise<OpenedEngine> {
  const { home, cwd, env, settings, simulate, log: callback } = resolveOptions(options)
  const daemon = await findDaemon(home)
  if (daemon) {
    throw new RepriseError('home-locked', `a daemon is using ${home}: pid ${daemon.pid}, ${daemon.url}`, {
      hint: 'Give the provider a directory of its own (`dataDir`), or stop the daemon with `reprise down`.',
      details: { pid: daemon.pid, url: daemon.url },
    })
  }
  const log = createCallbackLog(callback)
  const parts = await compose({ home, cwd, env, log, settings, simulate, holder: 'program' })
  const close = async () => {
    await parts.engine.close({ leaveRunning: false })
    await parts.close()
  }
  try {
    await parts.engine.open()
    return { engine: parts.engine, home: parts.home, log, close }
  } catch (error) {
    await close()
    throw error
  }
}
