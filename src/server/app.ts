/**
 * The HTTP server: guards first, then the operations of the route table, and one place where errors become responses.
 */
import { Hono } from 'hono'
import type { AppOptions } from './base/app-options.ts'
import { limitBody } from './base/body-limit.ts'
import { guardCaller } from './base/caller.ts'
import { answerError, answerUnknownRoute } from './base/error-response.ts'
import { noteSender } from './base/forwarded.ts'
import { guardHost, guardOrigin } from './base/guards.ts'
import { refuseWithoutCredentials } from './base/hook-auth.ts'
import { servePage } from './base/page.ts'
import { ALL_ROUTES, fits, registerRoutes } from './base/register.ts'
import { createHandlers } from './handlers.ts'

export interface App {
  fetch: Hono['fetch']
  /** Ends the open event streams; their readers reconnect to the daemon that listens next. */
  endStreams: () => void
}

const HEARTBEAT_MS = 15_000

export function createApp(options: AppOptions): App {
  const app = new Hono()
  app.onError(answerError(options.log))
  app.notFound(answerUnknownRoute)

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
  app.use(guardCaller(options))
  limitBodies(app)

  const streams = new AbortController()
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
  registerRoutes(app, createHandlers(options, { heartbeatMs, signal: streams.signal }))

  return { fetch: app.fetch, endStreams: () => streams.abort() }
}

/** A file is read as a stream, and its content is limited where it is read. */
const takesFile = ({ method, path }: { method: string; path: string }) =>
  ALL_ROUTES.some((route) => route.spec.bodyBytes && route.method === method && fits(route.pattern, path))

/** Smaller limits come first, because the general one would read more of the body. */
function limitBodies(app: Hono): void {
  for (const { pattern, spec } of ALL_ROUTES) {
    if (spec.auth === 'hook') app.use(pattern, refuseWithoutCredentials)
    if (spec.bodyLimit) app.use(pattern, limitBody(spec.bodyLimit))
  }
  const limit = limitBody('general')
  app.use((c, next) => (takesFile(c.req) ? next() : limit(c, next)))
}
