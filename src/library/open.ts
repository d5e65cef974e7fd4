/** Opens Reprise for a program: an engine in its process, or the daemon that already runs on the home. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connectHttp } from '../client/client.ts'
import { explainDisk } from '../config/home.ts'
import { RepriseError } from '../contract/errors.ts'
import { systemClock } from './clock.ts'
import { closedError } from './closed.ts'
import { type Composition, compose } from './compose.ts'
import { type DaemonLink, daemonEndpoint, findDaemon, locateDaemon } from './find-daemon.ts'
import { isHeldByDaemon } from './held.ts'
import { watchHome } from './home-watch.ts'
import { connectInProcess, type EngineConnection } from './in-process.ts'
import { createCallbackLog } from './log.ts'
import { type OpenOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { createReprise, type Reprise } from './reprise.ts'

/** A daemon holds its home a moment before it can be reached, and a moment after. */
const DAEMON_WITHIN_MS = 30_000

export async function openReprise(options: OpenOptions = {}): Promise<Reprise> {
  const asked = resolveOptions(options)
  const until = performance.now() + DAEMON_WITHIN_MS
  for (;;) {
    const daemon = await findDaemon(asked.home)
    if (daemon) return useDaemon(daemon, asked)
    try {
      return await openHere(asked)
    } catch (error) {
      if (!isHeldByDaemon(error) || performance.now() > until) throw error
    }
    await sleep(50)
  }
}

async function openHere({
  home,
  cwd,
  env,
  settings,
  simulate,
  log: callback,
}: ResolvedOptions): Promise<Reprise> {
  const log = createCallbackLog(callback)
  const startedAt = systemClock.now().toISOString()
  let parts: Composition | null = null
  try {
    parts = await compose({ home, cwd, env, log, settings, simulate, holder: 'program' })
    const { adopted } = await parts.engine.open()
    if (adopted > 0) log.info({ adopted }, 'took over attempts that were left open')
    const engine = connectInProcess(parts, log, startedAt)
    const homeWatch = watchHome(home, () => {
      log.error({ home }, 'the home has been removed, renamed or replaced: closing')
      reprise.close({ leaveRunning: true }).catch((error: unknown) => {
        log.error({ home, error: String(error) }, 'closing failed')
      })
    })
    const connection = {
      ...engine,
      close: (options: { leaveRunning: boolean }) => {
        homeWatch.stop()
        return engine.close(options)
      },
    }
    const reprise = createReprise({
      connection,
      home: parts.home,
      cwd,
      daemon: null,
      notices: parts.notices,
    })
    return reprise
  } catch (error) {
    await parts?.close()
    throw explainDisk(home, error)
  }
}

function useDaemon({ url, pid }: DaemonLink, { home, cwd, daemon, onlyHere }: ResolvedOptions): Reprise {
  const found = { pid, url }
  if (daemon === 'refuse') {
    throw new RepriseError('home-locked', `a daemon is using ${home}: pid ${pid}, ${url}`, {
      hint: "Stop it with `reprise down`, choose another home, or use it: `daemon: 'use'`.",
      details: found,
    })
  }
  if (onlyHere.length > 0) {
    throw new RepriseError(
      'conflict',
      `a daemon is using ${home} (pid ${pid}, ${url}), and ${onlyHere.join(', ')} cannot be set for it`,
      {
        hint: `Choose another home, stop the daemon with \`reprise down\`, or leave out ${onlyHere.join(', ')}.`,
        details: found,
      },
    )
  }
  const token = locateDaemon(home)?.token ?? ''
  return createReprise({
    connection: endingStreams(connectHttp(daemonEndpoint(home, { url, token }))),
    home,
    cwd,
    daemon: found,
    notices: [],
  })
}

/** After a close that leaves runs running, nobody waits for them here any more. */
function endingStreams(connection: Connection): EngineConnection {
  const { streams } = connection
  const closing = new AbortController()
  const until = <Options extends { signal?: AbortSignal }>(options: Options = {} as Options): Options => ({
    ...options,
    signal: options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal,
  })
  return {
    ...connection,
    streams: {
      events: (id, options) => streams.events(id, until(options)),
      jobEvents: (id, options) => streams.jobEvents(id, until(options)),
      changes: (options) => streams.changes(until(options)),
    },
    close: async ({ leaveRunning }) => {
      if (leaveRunning) closing.abort(closedError())
    },
  }
}
