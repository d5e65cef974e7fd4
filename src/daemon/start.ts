/**
 * Starts the daemon: lock, store, engine, server, in that order; then `daemon.json`, by which clients find it; then
 * recovery, so that the server is reachable before recovery is done.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeExposure, KEEP_LOCAL } from '../config/exposure.ts'
import { explainDisk, identifyHome } from '../config/home.ts'
import type { DaemonFile } from '../contract/http.ts'
import type { Engine } from '../engine/api.ts'
import { systemClock } from '../library/clock.ts'
import { type ComposeInput, compose } from '../library/compose.ts'
import { type OpenSocket, openSocket } from '../library/daemon-socket.ts'
import { watchHome } from '../library/home-watch.ts'
import { readDaemonFile } from '../library/lock.ts'
import { ensureToken } from '../library/token.ts'
import { readVersion } from '../library/version.ts'
import { createApp } from '../server/app.ts'
import { type Listening, listen, listenOnSocket } from '../server/listen.ts'
import { connectionLimits } from './connection-limits.ts'

export type CloseCause = 'asked' | 'home-gone'

export interface Daemon {
  url: string
  engine: Engine
  pid: number
  simulator: string | null
  notices: string[]
  /** A link that signs a browser in to the dashboard, once. null: it could not be stored; the daemon works all the same. */
  createSignInLink: () => Promise<string | null>
  close: () => Promise<void>
  /** Resolves when the daemon has been closed. `home-gone`: its home has been removed, renamed or replaced. */
  closed: Promise<CloseCause>
}

export type DaemonInput = Omit<ComposeInput, 'holder' | 'simulate' | 'settings'>

/** Where the build puts the dashboard; the same from src/daemon and from the bundle in dist/app. */
const WEB_DIR = fileURLToPath(new URL('../../dist/web', import.meta.url))

export async function startDaemon(input: DaemonInput): Promise<Daemon> {
  const { home, log } = input
  const startedAt = systemClock.now().toISOString()
  const {
    home: realHome,
    config,
    engine,
    changes,
    access,
    configuration,
    simulatorUrl,
    notices,
    close: closeParts,
  } = await compose({ ...input, holder: 'daemon', simulate: true }).catch((error: unknown) => {
    throw explainDisk(home, error)
  })
  const exposure = describeExposure(config.server.host)
  if (exposure !== null) notices.push(`${exposure} ${KEEP_LOCAL}`)
  const { promise: closed, resolve: setClosed } = Promise.withResolvers<CloseCause>()
  let server: Listening | null = null
  let socket: OpenSocket | null = null
  const homeWatch = watchHome(home, () => {
    log.error({ home }, 'the home has been removed, renamed or replaced: stopping')
    void close('home-gone')
  })
  let closing: Promise<void> | null = null
  const close = (cause: CloseCause = 'asked') => {
    closing ??= (async () => {
      homeWatch.stop()
      if (readDaemonFile(home)?.pid === process.pid) rmSync(join(home, 'daemon.json'), { force: true })
      await Promise.all([server?.close(), socket?.close()])
      await closeParts()
      setClosed(cause)
    })()
    return closing
  }
  try {
    const { host, port, publicUrl, trustedProxies } = config.server
    let url = ''
    const app = createApp({
      engine,
      changes,
      access,
      configuration,
      webDir: WEB_DIR,
      token: ensureToken(home),
      version: readVersion(),
      startedAt,
      pid: process.pid,
      home,
      isHomeInPlace: homeWatch.isInPlace,
      url: () => url,
      simulatorUrl,
      allowedHosts: [host],
      publicUrl,
      trustedProxies,
      log,
      onShutdown: () => void close(),
    })
    const limits = connectionLimits()
    server = await listen(app, { host, port, limits })
    url = server.url
    const homeId = identifyHome(home)
    socket = await openSocket(
      realHome,
      (path) => listenOnSocket(app, path, limits),
      readDaemonFile(home)?.socket,
    )
    publish(home, {
      pid: process.pid,
      url,
      startedAt,
      socket: socket.published,
      ...(homeId === null ? {} : { homeId }),
    })
    const { adopted } = await engine.open()
    if (adopted > 0) log.info({ adopted }, 'took over attempts that were left open')
    const createSignInLink = () =>
      access.createLink({}, null).then(
        ({ code }) => `${url}/sign-in#${code}`,
        (error) => {
          log.warn({ error: String(error) }, 'could not make a link that signs in')
          return null
        },
      )
    return {
      url,
      engine,
      pid: process.pid,
      simulator: simulatorUrl,
      notices,
      createSignInLink,
      close,
      closed,
    }
  } catch (error) {
    await close()
    throw explainDisk(home, error)
  }
}

/** Writes the file atomically. */
function publish(home: string, file: DaemonFile): void {
  const path = join(home, 'daemon.json')
  writeFileSync(`${path}.new`, `${JSON.stringify(file)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
