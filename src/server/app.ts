/**
 * The HTTP server: guards first, then the operations of the route table, and one place where errors become responses.
 */
import { Hono } from 'hono'
import type { AppOptions } from './base/app-options.ts'
import { createAuthenticate, guardRoute } from './base/caller.ts'
import { answerError, answerUnknownRoute } from './base/error-response.ts'
import { noteSender } from './base/forwarded.ts'
import { guardHost, guardOrigin } from './base/guards.ts'
import { OpenStreams, STREAM_LIMITS } from './base/open-streams.ts'
import { servePage } from './base/page.ts'
import { registerRoutes } from './base/register.ts'
import { createHandlers } from './handlers.ts'

export interface App {
  fetch: Hono['fetch']
  /** Ends the open event streams; their readers reconnect to the daemon that listens next. */
  endStreams: () => void
}

const HEARTBEAT_MS = 15_000

export function createApp(options: AppOptions): App {
  const app = new Hono()
  const authenticate = createAuthenticate(options)
  app.onError(answerError(options.log))
  app.notFound(answerUnknownRoute(authenticate))

  app.use(async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff')
    c.header('Cache-Control', 'no-store')
    c.header('Referrer-Policy', 'no-referrer')
    c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
    await next()
  })
  const publicUrl = options.publicUrl === undefined ? null : new URL(options.publicUrl)
  const publicOrigin = publicUrl?.origin ?? null
  app.use(noteSender(options.trustedProxies ?? [], publicOrigin))
  app.use(guardHost([...options.allowedHosts, ...(publicUrl ? [publicUrl.hostname] : [])]))
  // Before the check of origins: a link on another site may lead to the page.
  if (options.webDir !== undefined) app.use(servePage(options.webDir))
  app.use(guardOrigin(publicOrigin))

  const ending = new AbortController()
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
  const open = new OpenStreams(options.streamLimits ?? STREAM_LIMITS)
  const handlers = createHandlers(options, { heartbeatMs, signal: ending.signal, open })
  registerRoutes(app, handlers, (route) => guardRoute(route, authenticate, options))

  return { fetch: app.fetch, endStreams: () => ending.abort() }
}
